#include "transport/inproc/inproc_transport.h"

#include <charconv>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport {

using base::Code;
using base::Status;

namespace {

constexpr std::string_view prefix = "inproc:";

// The number in an address, or 0.
std::uint64_t number_in(std::string_view address) noexcept {
  if (address.substr(0, prefix.size()) != prefix) return 0;
  address.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const char* end = address.data() + address.size();
  const auto result = std::from_chars(address.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? number : 0;
}

}  // namespace

InprocTransport::InprocTransport(InprocHub& hub, PeerId self, base::Doorbell* doorbell)
    : hub_(hub), port_(std::make_shared<InprocPort>(self, doorbell)) {}

InprocTransport::~InprocTransport() {
  port_->retire();
  hub_.leave(number_);
  refuse_offers();
}

Status InprocTransport::start(PacketSink& sink) {
  sink_ = &sink;
  number_ = hub_.enter(port_);
  return {};
}

std::string InprocTransport::address() const {
  return base::concat(prefix, number_);
}

void InprocTransport::connect(PeerId peer, std::string_view address, base::Deadline) {
  dialled_.push_back(dial(peer, address));
  port_->signal();
}

InprocTransport::Dialled InprocTransport::dial(PeerId peer, std::string_view address) {
  const auto unreachable = [&](Code code, std::string why) {
    return Dialled{peer, nullptr, code, std::move(why)};
  };
  if (closed_) return unreachable(Code::cancelled, "this transport is closed");
  const std::uint64_t number = number_in(address);
  if (number == 0)
    return unreachable(Code::unreachable, base::concat("\"", address, "\" is not an inproc address"));
  const auto other = hub_.find(number);
  if (!other) return unreachable(Code::unreachable, base::concat("nobody has the address ", address));
  if (other->owner() != peer)
    return unreachable(Code::refused, base::concat(address, " is process ", other->owner(), ", not ", peer));

  const auto link = std::make_shared<InprocLink>(port_, other, hub_.limits());
  if (other != port_ && !other->offer({port_->owner(), link}))
    return unreachable(Code::unreachable, base::concat(address, " accepts no more links"));
  return {peer, std::make_unique<InprocEndpoint>(peer, link, 0, hub_.limits()), {}, {}};
}

void InprocTransport::stop_accepting() noexcept {
  port_->stop_accepting();
}

std::size_t InprocTransport::progress(Endpoint* awaited) noexcept {
  if (!port_->consume_signal()) return 0;
  const std::size_t events = report_dialled() + accept_offers();
  return events + poll_links(awaited);
}

void InprocTransport::link_up(std::unique_ptr<InprocEndpoint> endpoint, bool dialled) noexcept {
  InprocEndpoint& link = *endpoint;
  link.dialled = dialled;
  link.transport = name();
  links_.push_back(std::move(endpoint));
  sink_->on_link(link.peer(), link);
}

std::size_t InprocTransport::report_dialled() noexcept {
  // The sink may call connect().
  auto dialled = std::exchange(dialled_, {});
  for (Dialled& one : dialled) {
    if (one.endpoint)
      link_up(std::move(one.endpoint), true);
    else
      sink_->on_unreachable(one.peer, one.status, one.why);
  }
  return dialled.size();
}

std::size_t InprocTransport::accept_offers() noexcept {
  auto offers = port_->take_offers();
  for (InprocOffer& offer : offers)
    link_up(std::make_unique<InprocEndpoint>(offer.from, std::move(offer.link), 1, hub_.limits()), false);
  return offers.size();
}

std::size_t InprocTransport::poll_links(Endpoint* awaited) noexcept {
  std::size_t events = 0;
  bool more = false;
  const auto poll = [&](std::unique_ptr<InprocEndpoint>& link) {
    const auto visit = link->poll(*sink_, events);
    if (visit == InprocEndpoint::Visit::more) more = true;
    if (visit == InprocEndpoint::Visit::finished) link.reset();
  };
  const std::size_t count = links_.size();
  std::size_t polled = count;
  for (std::size_t i = 0; i < count && awaited != nullptr; ++i) {
    if (links_[i].get() != awaited) continue;
    polled = i;
    poll(links_[i]);
    break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (first_ + i) % count;
    if (index != polled) poll(links_[index]);
  }
  ++first_;
  std::erase(links_, nullptr);
  if (more) port_->signal();
  return events;
}

// Who dialled us and was not met yet sees our death.
void InprocTransport::refuse_offers() noexcept {
  for (InprocOffer& offer : port_->take_offers())
    InprocEndpoint(offer.from, std::move(offer.link), 1, hub_.limits()).close();
}

bool InprocTransport::arm() noexcept {
  return port_->arm();
}

void InprocTransport::close() noexcept {
  if (std::exchange(closed_, true)) return;
  port_->stop_accepting();
  hub_.leave(number_);
  for (auto& link : links_) link->close();
  refuse_offers();
  for (Dialled& one : dialled_) {
    if (!one.endpoint) continue;
    one.endpoint->close();
    one = {one.peer, nullptr, Code::cancelled, "this transport was closed"};
  }
}

}  // namespace parley::transport
