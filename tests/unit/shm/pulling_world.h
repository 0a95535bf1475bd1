#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/protocol/messenger.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::shm::testing {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t large = 4 << 20;  // many pieces
// What its owner writes over a message that nobody may read any more.
inline constexpr std::byte changed{0xee};

inline void fill_content(std::span<std::byte> bytes, int salt = 1) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + (i >> 9) * 7 + static_cast<std::size_t>(salt) * 101);
}
inline Bytes content(std::size_t bytes, int salt = 1) {
  Bytes made(bytes);
  fill_content(made, salt);
  return made;
}

inline bool is_same(std::span<const std::byte> one, std::span<const std::byte> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

// What a tensor in an arena is; of ordinary memory if there is no arena.
struct SharedBytes {
  SharedBytes() = default;
  SharedBytes(Arena* arena, std::size_t size, int salt = 1) : bytes(size) {
    if (arena != nullptr)
      memory = arena->allocate(size).value();
    else
      memory.reset(new std::byte[size], std::default_delete<std::byte[]>());
    fill_content(all(), salt);
  }
  [[nodiscard]] std::span<std::byte> all() const { return {memory.get(), bytes}; }
  std::shared_ptr<std::byte> memory;
  std::size_t bytes = 0;
};

// What stands between the movers of a test and the kernel.
struct Reads {
  int count = 0;                 // that were tried
  int succeed = -1;              // so many, and the others fail; -1: all
  int error = EPERM;             // of those that fail
  std::function<void()> before;  // the next one
};
inline Reads reads;

// A test in which all reads are let through at first, whatever the one before has left.
class WatchedReads : public ::testing::Test {
 protected:
  WatchedReads() { reads = {}; }
};

inline base::Status watched_read(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  ++reads.count;
  if (const auto before = std::exchange(reads.before, nullptr)) before();
  if (reads.succeed >= 0 && reads.count > reads.succeed) return {base::Code::io_error, reads.error};
  return read_process_memory(process, address, into);
}

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
    for (auto& transport : transports)
      if (transport) transport->close();
    for (auto& transport : transports)
      while (transport && transport->progress(nullptr) != 0) {
      }
  }
  PullingWorld(const PullingWorld&) = delete;
  PullingWorld& operator=(const PullingWorld&) = delete;

  // Without a word to anybody.
  void kill(std::size_t number) { transports[number].reset(); }

  std::size_t step(std::size_t number) {
    if (!transports[number]) return 0;
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
  // Until `to` has mapped the segment of number 0 in which `memory` lies.
  void show(std::uint32_t to, std::span<const std::byte> memory) {
    Bytes in(memory.size());
    Request* sent = send(0, to, 99, memory);
    finish(receive(to, 0, 99, in));
    finish(*sent);
    EXPECT_TRUE(is_same(in, memory)) << "before the segment is mapped, too";
    const Mover& mover = *messengers[0]->peer(to).mover;
    run_until([&] { return mover.describe().find("it reads our arena") != std::string::npos; });
  }
  // Gives everybody the time to do what there is to do.
  void settle() {
    for (int i = 0; i < 100; ++i)
      for (std::size_t number = 0; number < transports.size(); ++number) step(number);
  }
  // The deadlines of `at` look at a clock that is an hour late.
  void tick_late(std::size_t at) {
    const auto now = std::chrono::steady_clock::now();
    messengers[at]->tick(now);  // it counts from here
    messengers[at]->tick(now + std::chrono::minutes(59));
  }
  void finish(const Request& request) {
    run_until([&] { return request.state == RequestState::done; });
  }

  // Null: it is complete.
  Request* send(std::uint32_t from, std::uint32_t to, std::int64_t tag, std::span<const std::byte> data,
                std::chrono::nanoseconds timeout = std::chrono::hours(1), std::uint32_t context = 0) {
    SendSpec spec{.destination = to, .context = context, .tag = tag};
    spec.data = data.data();
    spec.bytes = data.size();
    spec.timeout = timeout;
    return messengers[from]->send(spec).request;
  }
  Request& receive(std::uint32_t at, std::uint32_t from, std::int64_t tag, Bytes& into,
                   std::chrono::nanoseconds timeout = std::chrono::hours(1), std::uint32_t context = 0) {
    ReceiveSpec spec{.pattern = {context, from, tag}, .data = into.data(), .capacity_bytes = into.size()};
    spec.timeout = timeout;
    return *messengers[at]->receive(spec).request;
  }

  socket::Reactor reactor;  // outlives the transports
  std::vector<std::unique_ptr<Messenger>> messengers;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<ShmTransport>> transports;
};

}  // namespace parley::transport::shm::testing
