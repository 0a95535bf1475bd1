#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "tests/unit/protocol/pretend_device.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {

// Two messengers whose messages lie on devices, with movers beside their link if a test wants them.
class DeviceMessages : public ::testing::Test {
 protected:
  using Bytes = std::vector<std::byte>;
  using Code = base::Code;
  using State = PretendDeviceBoard::State;
  static constexpr std::size_t large = 50'000;
  static Bytes content(std::size_t bytes, int salt = 0) {
    Bytes made(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      made[i] = static_cast<std::byte>(i * 31 + (i >> 9) * 7 + static_cast<std::size_t>(salt) * 101);
    return made;
  }

  explicit DeviceMessages(const fault::FaultPlan& plan = {}) : world_(2, plan) {}
  ~DeviceMessages() override {
    for (Request* request : requests_) world_.messengers[at_[request]]->release(*request);
    for (auto& transport : world_.transports) transport->close();
    world_.settle();
    EXPECT_EQ(device_.live, 0) << "memories that were not released";
    EXPECT_EQ(device_.places_out, 0U) << "landing places that were not given back";
    EXPECT_FALSE(movers_[0].wrong || movers_[1].wrong);
  }
  void use_movers() {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      world_.messengers[rank]->peer(1 - rank).device_mover = &movers_[rank];
  }

  PretendMemory& memory(Bytes bytes) {
    memories_.push_back(std::make_unique<PretendMemory>(device_, std::move(bytes)));
    return *memories_.back();
  }
  Request& keep(Request& request, std::uint32_t rank) {
    requests_.push_back(&request);
    at_[&request] = rank;
    return request;
  }
  void forget(Request& request, std::uint32_t rank) {
    std::erase(requests_, &request);
    world_.messengers[rank]->release(request);
  }
  Request& send(PretendMemory& from, std::int64_t tag = 1) {
    SendSpec spec;
    spec.destination = 1;
    spec.tag = tag;
    spec.bytes = from.memory.size();
    spec.synchronous = true;
    spec.device = &from;
    spec.timeout = std::chrono::hours(1);
    return keep(*world_.messengers[0]->send(spec).request, 0);
  }
  Request& receive(PretendMemory& into, std::int64_t tag = 1) {
    ReceiveSpec spec;
    spec.pattern = {0, 0, tag};
    spec.capacity_bytes = into.memory.size();
    spec.device = &into;
    spec.timeout = std::chrono::hours(1);
    return keep(*world_.messengers[1]->receive(spec).request, 1);
  }
  Request& send_from_host(const Bytes& from, std::int64_t tag = 1) {
    const Posted posted = world_.send(0, 1, tag, from);
    EXPECT_NE(posted.request, nullptr);
    return keep(*posted.request, 0);
  }
  Request& receive_on_host(Bytes& into, std::int64_t tag = 1) {
    return keep(world_.receive(1, 0, tag, into), 1);
  }

  static void expect_done(const Request& request, Code code = Code::ok) {
    EXPECT_EQ(request.state, RequestState::done);
    EXPECT_EQ(request.status.code(), code) << request.status.describe();
  }
  // A message that arrives whole; its receive's memory.
  PretendMemory& play(std::size_t bytes, bool posted_first = true) {
    PretendMemory &from = memory(content(bytes)), &into = memory(Bytes(bytes));
    Request* received = posted_first ? &receive(into) : nullptr;
    Request& sent = send(from);
    world_.settle();
    if (!posted_first) received = &receive(into);
    world_.settle();
    expect_done(sent);
    expect_done(*received);
    EXPECT_EQ(into.memory, from.memory);
    return into;
  }
  // The receiver has taken the offer, and the sender does not know yet.
  Request& lend(PretendMemory& from, PretendMemory& into) {
    use_movers();
    Request& received = receive(into);
    Request& sent = send(from);
    while (received.state != RequestState::done) world_.progress(1);
    expect_done(received);
    return sent;
  }

  // The sender has taken the place of the receive that is posted, and its receiver does not know yet.
  Request& push() {
    use_movers();
    movers_[1].wants_pushes = true;
    Request& sent = send(memory(content(large)));
    while (sent.state != RequestState::done) world_.progress(1), world_.progress(0);
    return sent;
  }

  PretendDevice device_;
  PretendDeviceBoard board_;
  std::array<PretendDeviceMover, 2> movers_{PretendDeviceMover(board_), PretendDeviceMover(board_)};
  std::vector<std::unique_ptr<PretendMemory>> memories_;
  std::vector<Request*> requests_;
  std::map<Request*, std::uint32_t> at_;
  WorldOfMessengers world_;
};

}  // namespace parley::transport
