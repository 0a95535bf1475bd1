#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/base/memory_ref.h"
#include "transport/interface/completion.h"
#include "transport/interface/packet.h"

namespace parley::transport {

// Sizes of in-process links. Small ones make back-pressure easy to reach in tests.
struct InprocLimits {
  std::size_t lane_bytes = 1U << 20;       // payload that waits in one direction; one packet always fits
  std::size_t lane_packets = 1024;         // packets that wait in one direction
  std::size_t copy_limit_bytes = 8 << 10;  // larger payloads answer `in_progress`
  std::size_t landing_bytes = 4 << 10;     // larger payloads are delivered by on_header() and on_landed()
  std::size_t visit_packets = 16;          // packets delivered per link and progress()
};

// A packet on its way. Its memory is used again for later packets.
struct InprocPacket {
  PacketHeader header;
  Completion* done = nullptr;          // of the writer; guarded by the lane's mutex
  std::vector<std::byte> small;        // payload up to copy_limit_bytes; keeps its capacity
  std::unique_ptr<std::byte[]> large;  // payload beyond; given up when the packet is consumed
  InprocPacket* next = nullptr;        // guarded by the lane's mutex

  [[nodiscard]] const std::byte* payload() const noexcept { return large ? large.get() : small.data(); }
};

// One direction of a link: a bounded queue with one writer and one reader.
//
// Invariants: (1) a packet is in exactly one of queue, finished, free, or the writer's hands while it is
// being filled; (2) only the reader removes from the queue, so its front stays put while the reader looks at
// it without the mutex; (3) only the writer adds, so room that it has seen stays. Thread-safety: writer calls
// by one thread, reader calls by one (perhaps other) thread.
class InprocLane {
 public:
  enum class Push : unsigned char {
    taken,
    full,    // no room; became_writable() will tell
    closed,  // one end is closed
  };

  explicit InprocLane(const InprocLimits& limits) noexcept : limits_(limits) {}
  InprocLane(const InprocLane&) = delete;
  InprocLane& operator=(const InprocLane&) = delete;
  ~InprocLane();

  // Writer. `done` is null for a payload that is not completed later. Throws std::bad_alloc, then nothing was
  // taken.
  Push push(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done);
  // The next completion whose packet was consumed, or nullptr.
  Completion* take_finished() noexcept;
  // The next completion whose packet was not consumed, or nullptr. For the end of a link.
  Completion* take_unfinished() noexcept;
  // Whether a push() was refused and there is room now; true once per refusal.
  bool became_writable() noexcept;
  // Nothing more will be pushed; what is queued stays.
  void close_writer() noexcept;

  // Reader. The oldest packet, or nullptr; it stays until pop().
  InprocPacket* peek() noexcept;
  // Consumes the oldest packet. Returns whether the writer has something to do now.
  bool pop() noexcept;
  // Whether the writer has closed and everything was consumed.
  bool at_end() noexcept;
  // Nothing more will be consumed.
  void close_reader() noexcept;

 private:
  struct Queue {
    InprocPacket* first = nullptr;
    InprocPacket* last = nullptr;
    void push_back(InprocPacket& packet) noexcept;
    InprocPacket* pop_front() noexcept;
    void destroy() noexcept;
  };

  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept;
  Push reserve(std::size_t bytes, std::unique_ptr<InprocPacket>& packet);
  void recycle(InprocPacket& packet) noexcept;

  const InprocLimits limits_;
  std::mutex mutex_;  // guards everything below
  Queue queue_;
  Queue finished_;  // consumed, completion not yet run
  InprocPacket* free_ = nullptr;
  std::size_t packets_ = 0;        // in queue_
  std::size_t bytes_ = 0;          // payload in queue_
  std::size_t refused_bytes_ = 0;  // payload of the last refused push
  bool writer_waits_ = false;      // refused, no room yet
  bool writable_ = false;          // refused before, room now
  bool writer_closed_ = false;
  bool reader_closed_ = false;
};

}  // namespace parley::transport
