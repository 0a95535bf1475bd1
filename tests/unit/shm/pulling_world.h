#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "transport/protocol/messenger.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::shm::testing {

using Bytes = std::vector<std::byte>;

// Processes that share memory, all in this one: nothing happens but in step(). What reads another process's
// memory can be made to fail.
class PullingWorld {
 public:
  // `cross_memory` of each: null for one that does without. Arenas are made for all of them, or none.
  explicit PullingWorld(std::vector<std::shared_ptr<const CrossMemory>> cross_memory,
                        std::size_t eager_limit_bytes = 8 << 10, bool with_arenas = false) {
    const auto size = static_cast<std::uint32_t>(cross_memory.size());
    for (std::uint32_t number = 0; number < size; ++number) {
      messengers.push_back(std::make_unique<Messenger>(
          MessengerOptions{.self = number, .peer_count = size, .eager_limit_bytes = eager_limit_bytes}));
      arenas.push_back(with_arenas ? Arena::create({.least_bytes = 1 << 20}) : nullptr);
      const Self self{
          .number = number, .job = {}, .cross_memory = cross_memory[number], .arena = arenas[number]};
      transports.push_back(std::make_unique<ShmTransport>(reactor, self));
      EXPECT_TRUE(transports.back()->start(*messengers.back()).ok());
    }
    const auto deadline = base::Deadline::after(std::chrono::seconds(60));
    for (std::uint32_t number = 0; number < size; ++number)
      for (std::uint32_t lower = 0; lower < number; ++lower)
        transports[number]->connect(lower, transports[lower]->address(), deadline);
    run_until([&] {
      for (std::uint32_t a = 0; a < size; ++a)
        for (std::uint32_t b = 0; b < size; ++b)
          if (a != b && messengers[a]->peer(b).state != PeerState::up) return false;
      return true;
    });
  }
  ~PullingWorld() {
    for (auto& transport : transports) transport->close();
    for (auto& transport : transports)
      while (transport->progress(nullptr) != 0) {
      }
  }
  PullingWorld(const PullingWorld&) = delete;
  PullingWorld& operator=(const PullingWorld&) = delete;

  std::size_t step(std::size_t number) {
    messengers[number]->end_burst();
    std::size_t events = transports[number]->progress(nullptr);
    if (messengers[number]->wants_pump()) events += messengers[number]->pump();
    return events;
  }
  void run_until(const std::function<bool()>& holds) {
    const auto deadline = base::Deadline::after(std::chrono::seconds(60));
    while (!holds()) {
      if (deadline.expired()) {
        ADD_FAILURE() << "what was waited for did not happen";
        return;
      }
      for (std::size_t number = 0; number < transports.size(); ++number) step(number);
    }
  }
  void finish(const Request& request) {
    run_until([&] { return request.state == RequestState::done; });
  }

  // Null: it is complete.
  Request* send(std::uint32_t from, std::uint32_t to, std::int64_t tag, std::span<const std::byte> data) {
    SendSpec spec{.destination = to, .tag = tag, .data = data.data(), .bytes = data.size()};
    spec.timeout = std::chrono::hours(1);
    return messengers[from]->send(spec).request;
  }
  Request& receive(std::uint32_t at, std::uint32_t from, std::int64_t tag, Bytes& into,
                   std::chrono::nanoseconds timeout = std::chrono::hours(1)) {
    ReceiveSpec spec{.pattern = {0, from, tag}, .data = into.data(), .capacity_bytes = into.size()};
    spec.timeout = timeout;
    return *messengers[at]->receive(spec).request;
  }

  socket::Reactor reactor;  // outlives the transports
  std::vector<std::unique_ptr<Messenger>> messengers;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<ShmTransport>> transports;
};

}  // namespace parley::transport::shm::testing
