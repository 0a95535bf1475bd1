#include "transport/fault/fault_transport.h"

#include <algorithm>
#include <utility>

namespace parley::transport::fault {

using base::Code;
using base::Status;

namespace {
FaultEndpoint& decorated(Endpoint& inner) {
  return *static_cast<FaultEndpoint*>(inner.user);
}
}  // namespace

FaultTransport::FaultTransport(std::unique_ptr<Transport> inner, const FaultPlan& plan)
    : dice_(plan), inner_(std::move(inner)), name_("fault(" + std::string(inner_->name()) + ")") {}

Status FaultTransport::start(PacketSink& sink) {
  sink_ = &sink;
  return inner_->start(*this);
}

void FaultTransport::connect(PeerId peer, std::string_view address, base::Deadline deadline) {
  inner_->connect(peer, address, deadline);
}

std::size_t FaultTransport::progress(Endpoint* awaited) noexcept {
  dice_.tick();
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [awaited](const auto& link) { return link.get() == awaited; });
  // What the inner transport tells is kept here; the sink hears of it below.
  const std::size_t events = inner_->progress(found == links_.end() ? nullptr : (*found)->inner());
  return events + deliver_held();
}

std::size_t FaultTransport::deliver_held() {
  std::size_t events = 0;
  bool process_died = false;
  for (auto& link : links_) {
    const auto outcome = link->deliver(*sink_, events);
    if (outcome == FaultEndpoint::Outcome::ended) link.reset();
    if (outcome == FaultEndpoint::Outcome::process_died) {
      process_died = true;
      break;
    }
  }
  std::erase(links_, nullptr);
  if (process_died) end_all(Code::peer_died);
  return events;
}

void FaultTransport::end_all(Status reason) noexcept {
  for (auto& link : links_) link->break_off(reason);
  inner_->close();
}

bool FaultTransport::arm() noexcept {
  const bool holds =
      std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->is_holding(); });
  return !holds && inner_->arm();
}

void FaultTransport::close() noexcept {
  end_all(Code::closed);
}

void FaultTransport::on_link(PeerId peer, Endpoint& endpoint) noexcept {
  FaultEndpoint& link = *links_.emplace_back(std::make_unique<FaultEndpoint>(endpoint, dice_));
  endpoint.user = &link;
  link.dialled = endpoint.dialled;
  link.eager_limit_bytes = endpoint.eager_limit_bytes;
  link.transport = endpoint.transport;
  sink_->on_link(peer, link);
}

void FaultTransport::on_unreachable(PeerId peer, Status status, std::string_view why) noexcept {
  sink_->on_unreachable(peer, status, why);
}

void FaultTransport::on_packet(Endpoint& endpoint, const PacketHeader& header,
                               std::span<const std::byte> payload) noexcept {
  decorated(endpoint).packet(header, payload);
}

base::MemoryRef FaultTransport::on_header(Endpoint& endpoint, const PacketHeader& header) noexcept {
  return decorated(endpoint).header(header);
}

void FaultTransport::on_landed(Endpoint& endpoint, const PacketHeader&) noexcept {
  decorated(endpoint).landed();
}

void FaultTransport::on_writable(Endpoint& endpoint) noexcept {
  decorated(endpoint).writable();
}

void FaultTransport::on_closed(Endpoint& endpoint, Status reason) noexcept {
  decorated(endpoint).closed(reason);
}

}  // namespace parley::transport::fault
