#include "tests/contract/transport/moved/moved_transport.h"

#include <algorithm>

namespace parley::transport::contract {

using base::Status;

namespace {
MovedEndpoint& moved(Endpoint& inner) {
  return *static_cast<MovedEndpoint*>(inner.user);
}
}  // namespace

Status MovedTransport::start(PacketSink& sink) {
  sink_ = &sink;
  return inner_->start(*this);
}

std::size_t MovedTransport::progress(Endpoint* awaited) noexcept {
  std::size_t events =
      inner_->progress(awaited == nullptr ? nullptr : &static_cast<MovedEndpoint*>(awaited)->inner());
  for (const auto& link : links_) events += link->work();
  return events;
}

bool MovedTransport::unsent() const noexcept {
  return inner_->unsent() ||
         std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->has_work(); });
}

void MovedTransport::close() noexcept {
  for (const auto& link : links_) link->close();
  inner_->close();
}

void MovedTransport::on_link(PeerId peer, Endpoint& endpoint) noexcept {
  insist(endpoint.mover != nullptr, "a mover");
  endpoint.user = links_.emplace_back(std::make_unique<MovedEndpoint>(endpoint, *sink_, lend_)).get();
  sink_->on_link(peer, moved(endpoint));
}

void MovedTransport::on_unreachable(PeerId peer, Status status, std::string_view why) noexcept {
  sink_->on_unreachable(peer, status, why);
}

void MovedTransport::on_packet(Endpoint& endpoint, const PacketHeader& header,
                               std::span<const std::byte> payload) noexcept {
  moved(endpoint).packet(header, payload);
}

base::MemoryRef MovedTransport::on_header(Endpoint&, const PacketHeader&) noexcept {
  insist(false, "no large packet on the link");
  return {};
}

void MovedTransport::on_landed(Endpoint&, const PacketHeader&) noexcept {}

void MovedTransport::on_writable(Endpoint& endpoint) noexcept {
  moved(endpoint).writable();
}

void MovedTransport::on_closed(Endpoint& endpoint, Status reason) noexcept {
  MovedEndpoint& link = moved(endpoint);
  link.end(reason);
  sink_->on_closed(link, reason);
  std::erase_if(links_, [&](const auto& one) { return one.get() == &link; });
}

}  // namespace parley::transport::contract
