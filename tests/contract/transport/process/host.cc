#include "tests/contract/transport/process/host.h"

#include <unistd.h>

#include <cstring>
#include <string_view>

namespace parley::transport::contract {

using base::Code;
using base::Deadline;
using base::Status;

namespace {

// Whoever still reads it sends, or writes, what the test does not expect.
void overwrite(std::vector<std::byte>& payload) {
  if (!payload.empty()) std::memset(payload.data(), 0xdd, payload.size());
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Steady time is the same in all processes of a host.
Deadline deadline_of(const Message& request) {
  return Deadline::at(
      base::Clock::time_point(base::Clock::duration(static_cast<base::Clock::rep>(request.number))));
}

}  // namespace

void Host::serve_until(Verb last) {
  for (;;) {
    Message request;
    if (!channel_.receive(request)) _exit(1);
    if (request.verb == last) return;
    if (!channel_.send(execute(request))) _exit(1);
  }
}

void Host::tell(const Message& event) {
  if (!channel_.send(event)) _exit(1);
  serve_until(Verb::go_on);
}

Message Host::execute(const Message& request) {
  Message answer{.verb = Verb::answer};
  switch (request.verb) {
    case Verb::start: answer.status = transport_->start(*this); break;
    case Verb::address: answer.body = bytes_of(transport_->address()); break;
    case Verb::try_send: answer.status = try_send(request); break;
    case Verb::poll:
    case Verb::announce_sleep:
    case Verb::cancel_sleep:
    case Verb::sleep: answer.number = ask_site(request); break;
    default: answer.number = ask_transport(request); break;
  }
  return answer;
}

std::uint64_t Host::ask_site(const Message& request) {
  switch (request.verb) {
    case Verb::poll: return site_.poll();
    case Verb::announce_sleep: site_.announce_sleep(); break;
    case Verb::cancel_sleep: site_.cancel_sleep(); break;
    default: site_.sleep(deadline_of(request)); break;
  }
  return 0;
}

std::uint64_t Host::ask_transport(const Message& request) {
  Endpoint* endpoint = endpoint_of(request);
  switch (request.verb) {
    case Verb::connect: transport_->connect(request.peer, text_of(request.body), deadline_of(request)); break;
    case Verb::stop_accepting: transport_->stop_accepting(); break;
    case Verb::progress: return transport_->progress(endpoint);
    case Verb::unsent: return transport_->unsent() ? 1 : 0;
    case Verb::arm: return transport_->arm() ? 1 : 0;
    case Verb::close: transport_->close(); break;
    case Verb::drained: return endpoint->drained() ? 1 : 0;
    case Verb::close_link: endpoint->close(); break;
    default: _exit(2);
  }
  return 0;
}

Endpoint* Host::endpoint_of(const Message& request) {
  return request.link == 0 ? nullptr : links_[request.link - 1].endpoint;
}

Status Host::try_send(const Message& request) {
  auto sent = std::make_unique<Sent>();
  sent->fn = &Host::on_done;
  sent->host = this;
  sent->number = request.number;
  sent->payload = request.body;
  const Status answer =
      endpoint_of(request)->try_send(request.packet, {sent->payload.data(), sent->payload.size()},
                                     request.number == 0 ? nullptr : sent.get(), request.urgency);
  if (answer.code() == Code::in_progress)
    sent_.push_back(std::move(sent));
  else
    overwrite(sent->payload);
  return answer;
}

void Host::on_done(Completion& done, Status status) noexcept {
  Sent& sent = static_cast<Sent&>(done);
  overwrite(sent.payload);
  sent.host->tell({.verb = Verb::completed, .number = sent.number, .status = status});
}

namespace {
template <typename Link>
Link& link_of(Endpoint& endpoint) {
  return *static_cast<Link*>(endpoint.user);
}
}  // namespace

void Host::on_link(PeerId peer, Endpoint& endpoint) noexcept {
  Link& link = links_.emplace_back(Link{links_.size() + 1, &endpoint, {}});
  endpoint.user = &link;
  tell({.verb = Verb::linked, .peer = peer, .link = link.number, .number = endpoint.copy_limit_bytes()});
}

void Host::on_unreachable(PeerId peer, Status status, std::string_view why) noexcept {
  tell({.verb = Verb::unreachable, .peer = peer, .status = status, .body = bytes_of(why)});
}

void Host::on_packet(Endpoint& endpoint, const PacketHeader& header,
                     std::span<const std::byte> payload) noexcept {
  tell({.verb = Verb::packet,
        .link = link_of<Link>(endpoint).number,
        .packet = header,
        .body = {payload.begin(), payload.end()}});
}

base::MemoryRef Host::on_header(Endpoint& endpoint, const PacketHeader& header) noexcept {
  Link& link = link_of<Link>(endpoint);
  link.target.assign(header.payload_bytes, std::byte{0});
  link.target.shrink_to_fit();  // so that a sanitizer sees a byte too many
  tell({.verb = Verb::header, .link = link.number, .packet = header});
  return {link.target.data(), link.target.size()};
}

void Host::on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept {
  Link& link = link_of<Link>(endpoint);
  tell({.verb = Verb::landed, .link = link.number, .packet = header, .body = link.target});
}

void Host::on_writable(Endpoint& endpoint) noexcept {
  tell({.verb = Verb::writable, .link = link_of<Link>(endpoint).number});
}

void Host::on_closed(Endpoint& endpoint, Status reason) noexcept {
  Link& link = link_of<Link>(endpoint);
  tell({.verb = Verb::closed, .link = link.number, .status = reason});
  link.endpoint = nullptr;
}

}  // namespace parley::transport::contract
