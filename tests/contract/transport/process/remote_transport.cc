#include "tests/contract/transport/process/remote_transport.h"

#include <cstring>
#include <span>

namespace parley::transport::contract {

using base::Status;

namespace {

std::uint64_t number_of(base::Deadline deadline) {
  return static_cast<std::uint64_t>(deadline.when().time_since_epoch().count());
}

}  // namespace

Status RemoteEndpoint::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload,
                                Completion* done, Urgency urgency) noexcept {
  std::uint64_t completion = 0;
  if (done != nullptr) {
    completions_.push_back(done);
    completion = completions_.size();
  }
  return child_
      .ask({.verb = Verb::try_send,
            .urgency = urgency,
            .link = number_,
            .number = completion,
            .packet = header,
            .body = {payload.data, payload.data + payload.bytes}})
      .status;
}

RemoteTransport::RemoteTransport(Child& child) : child_(child) {
  child_.on_event = [this](const Message& event) { hear(event); };
}

RemoteTransport::~RemoteTransport() {
  if (closed_)
    child_.end();
  else
    child_.kill();
}

Status RemoteTransport::start(PacketSink& sink) {
  sink_ = &sink;
  return child_.ask({.verb = Verb::start}).status;
}

std::string RemoteTransport::address() const {
  return std::string(text_of(child_.ask({.verb = Verb::address}).body));
}

void RemoteTransport::connect(PeerId peer, std::string_view address, base::Deadline deadline) {
  const auto bytes = std::as_bytes(std::span(address));
  child_.ask({.verb = Verb::connect,
              .peer = peer,
              .number = number_of(deadline),
              .body = {bytes.begin(), bytes.end()}});
}

std::size_t RemoteTransport::progress(Endpoint* awaited) noexcept {
  const std::uint64_t link = awaited == nullptr ? 0 : static_cast<RemoteEndpoint*>(awaited)->number();
  return child_.ask({.verb = Verb::progress, .link = link}).number;
}

void RemoteTransport::close() noexcept {
  closed_ = true;
  child_.ask({.verb = Verb::close});
}

void RemoteTransport::hear(const Message& event) {
  switch (event.verb) {
    case Verb::linked:
      links_.push_back(std::make_unique<RemoteEndpoint>(child_, completions_, event.link, event.number));
      sink_->on_link(event.peer, *links_.back());
      break;
    case Verb::unreachable: sink_->on_unreachable(event.peer, event.status, text_of(event.body)); break;
    case Verb::completed: {
      Completion& done = *completions_[event.number - 1];
      done.fn(done, event.status);
      break;
    }
    default: hear_of_link(event);
  }
}

void RemoteTransport::hear_of_link(const Message& event) {
  RemoteEndpoint& link = *links_[event.link - 1];
  switch (event.verb) {
    case Verb::packet: sink_->on_packet(link, event.packet, event.body); break;
    case Verb::header: link.target = sink_->on_header(link, event.packet); break;
    case Verb::landed:
      if (!event.body.empty()) std::memcpy(link.target.data, event.body.data(), event.body.size());
      sink_->on_landed(link, event.packet);
      break;
    case Verb::writable: sink_->on_writable(link); break;
    default: sink_->on_closed(link, event.status); break;
  }
}

}  // namespace parley::transport::contract
