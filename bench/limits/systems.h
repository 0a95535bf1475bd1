#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/buffers.h"
#include "bench/limits/channel.h"
#include "bench/limits/slots.h"
#include "bench/plan.h"

namespace parley::bench {

// What the raw loops below share; each is a System of phase.h.
//
// * Each moves the bytes of the sender's Buffers::out to the receiver's Buffers::in, which is memory of the
//   receiver's own. All messages of a window come from, and go to, the same buffer.
// * They do no more than this traffic needs. Whoever answers (with the pong, or with the byte after a window)
//   has received all that was sent before: cells and buffers are free again without a word, and a window of
//   64 messages fits the ring of 1024 cells. When both send a window at once, the partner's next window
//   proves it: at most two of them are on their way. Where the receiver reads the sender's own buffer, a byte
//   each way ends such an exchange, so that the buffers may be written again.
// * A ping-pong uses the single cell of each direction, so that flag, length and a small message share one
//   cache line that goes to and fro; windows use the ring. An answer is a byte in a cell.
// * Each borrows channel and buffers for its lifetime. Errors: what Waiting throws.
template <typename Loop>
class ChannelLoop {
 public:
  void send_window() {
    for (int i = 0; i < window_; ++i) self().send();
  }
  void recv_window() {
    for (int i = 0; i < window_; ++i) self().recv();
  }
  void exchange_windows() {
    send_window();
    recv_window();
    send_ack();
    recv_ack();
  }
  void send_ack() { cells_out_.send(ack_.data(), 1); }
  void recv_ack() { cells_in_.receive(ack_.data(), waiting_); }

 protected:
  // `cells`: latency for the single cells, a windowed operation for the rings.
  ChannelLoop(Channel& channel, Buffers& buffers, Op cells, const Plan& plan)
      : cells_out_(channel.out().cells(cells)),
        cells_in_(channel.in().cells(cells)),
        waiting_(channel.waiting()),
        out_(buffers.out().data()),
        in_(buffers.in().data()),
        bytes_(buffers.out().size()),
        window_(plan.window) {}
  ~ChannelLoop() = default;

  CellWriter& cells_out_;
  CellReader& cells_in_;
  const Waiting& waiting_;
  const std::uint8_t* out_;
  std::uint8_t* in_;
  std::size_t bytes_;
  int window_;
  // Room for whatever a cell may bring.
  std::array<std::uint8_t, Cell::inline_bytes> ack_{1};

 private:
  Loop& self() noexcept { return static_cast<Loop&>(*this); }
};

// The message lies in the cell itself: one copy in, one out, one cache line. In windows this is the
// single-producer single-consumer ring of 1024 cells whose messages per second are counted.
// REQUIRES: messages of at most Cell::inline_bytes.
class CellSystem : public ChannelLoop<CellSystem> {
 public:
  CellSystem(Channel& channel, Buffers& buffers, Op op, const Plan& plan)
      : ChannelLoop(channel, buffers, op, plan) {}

  void send() { cells_out_.send(out_, static_cast<std::uint32_t>(bytes_)); }
  void recv() { cells_in_.receive(in_, waiting_); }
  void exchange_windows() {
    send_window();
    recv_window();
  }
};

// The same ring without windows: answers are only counted, and the sender stops when the ring is full. What a
// ring can do when nobody waits for anything. REQUIRES: as CellSystem; windows one way.
class StreamSystem : public CellSystem {
 public:
  StreamSystem(Channel& channel, Buffers& buffers, Op op, const Plan& plan)
      : CellSystem(channel, buffers, op, plan), outgoing_(channel.out()), incoming_(channel.in()) {}

  void send_ack();
  void recv_ack();

 private:
  Outgoing& outgoing_;
  Incoming& incoming_;
};

// Two copies: the sender copies into a slot of shared memory, the receiver out of it. With several slots a
// message longer than one goes through them piece after piece, and the sender fills the next slot while the
// receiver empties the last: a pipeline. With one slot they take turns. A cell announces each piece; a slot
// is written again when the receiver's count, or its answer, says that it is empty. Windows both ways: each
// end copies a piece in when a slot is free, and a piece out when one has come.
class CopiedSystem : public ChannelLoop<CopiedSystem> {
 public:
  // How the sender stores into a slot: by memcpy(), through its caches, or past them, to memory.
  enum class Stores { cached, past_caches };

  // Both ends give the same slots. REQUIRES: they fit the channel's, and there are at most ring_cells.
  CopiedSystem(Channel& channel, Buffers& buffers, const Plan& plan, const Slots& slots,
               Stores stores = Stores::cached);

  void send();
  void recv();
  void recv_ack();
  void exchange_windows();

 private:
  // The next piece after `done` bytes of messages: into a slot that is free, or out of the one that has come.
  // Its size.
  std::size_t push(std::size_t done);
  std::size_t pull(std::size_t done);
  [[nodiscard]] bool has_free_slot();

  Outgoing& outgoing_;
  Incoming& incoming_;
  Slots slots_;
  Stores stores_;
  std::uint32_t slot_out_ = 0;     // is filled next
  std::uint32_t slot_in_ = 0;      // is emptied next
  std::uint64_t known_taken_ = 0;  // at least so many pieces of Outgoing::sent have left their slots
};

// One copy, by the kernel: a cell tells the address, and the receiver reads with process_vm_readv from the
// sender's own memory, without the sender's help. Errors: std::system_error when the kernel refuses.
class CrossMemorySystem : public ChannelLoop<CrossMemorySystem> {
 public:
  CrossMemorySystem(Channel& channel, Buffers& buffers, Op op, const Plan& plan)
      : ChannelLoop(channel, buffers, op, plan), partner_(channel.partner_process()) {}

  void send();
  void recv();

 private:
  pid_t partner_;
};

// One copy: the sender's buffer lies in memory that both map; a cell says that it is ready, and the receiver
// copies from it. REQUIRES: the buffers' out memory is the channel's outgoing arena, on both ends.
class MappedSystem : public ChannelLoop<MappedSystem> {
 public:
  MappedSystem(Channel& channel, Buffers& buffers, Op op, const Plan& plan)
      : ChannelLoop(channel, buffers, op, plan), arena_(channel.in().arena) {}

  void send();
  void recv();

 private:
  const std::uint8_t* arena_;
};

// Reads `bytes` at `address` of another process. Throws std::system_error.
void read_from_process(pid_t process, std::uint64_t address, std::uint8_t* to, std::size_t bytes);

}  // namespace parley::bench
