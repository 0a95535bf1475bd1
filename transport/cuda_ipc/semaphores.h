#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/cuda/api.h"
#include "transport/cuda_ipc/port.h"
#include "transport/interface/offer_ledger.h"

namespace parley::transport::cuda_ipc {

// What the streams of the two ends of a link tell each other, in memory of the host that both have mapped: a
// semaphore is signalled by a stream of one end when it comes there, and awaited by streams of both. The
// device reads and writes the words by itself, and no process's context has to be loaded for that: an event
// between processes costs a change of contexts each time, where several processes share a device (README.md).
//
// Invariants: (1) `told` counts the signals that streams were told to give, `reached` the last of them that
// was given; the end whose streams signal a semaphore counts it, before the other one hears of it.
// (2) Streams would give signals in another order than they were told to: so a semaphore is signalled again
// only when it was reached, or in the same stream. (3) The memory is there, and registered, as long as a
// stream of this end is to use it: whoever tells one to knows when it has (Transfer).
// The peer is of our user and may write anything there: then streams wait too long, or not long enough.
// Thread-safety: none; the engine's lock.
class Semaphores {
 public:
  static constexpr std::size_t count = offer_word_bytes / (2 * sizeof(std::uint32_t));

  // `memory`: offer_word_bytes within a page, zero before its first use.
  Semaphores(Port& port, std::shared_ptr<std::byte> memory) noexcept
      : port_(port), memory_(std::move(memory)) {}
  ~Semaphores();
  Semaphores(const Semaphores&) = delete;
  Semaphores& operator=(const Semaphores&) = delete;

  // Whether streams can use them; asks once, before any of those below. This device is entered, as some
  // device is for those.
  bool open(int device) noexcept;
  // A signal in two steps, where the peer may look for it as soon as an offer of its is taken: it is counted
  // before, and then given by the stream; or taken back where nobody has heard of it, or given by
  // the host, where the stream cannot be told to: an earlier one of the stream's would take it back.
  void promise(std::size_t number) noexcept;
  cuda::Code keep_promise(cuda::Stream stream, std::size_t number) noexcept;
  void take_back(std::size_t number) noexcept;
  void give(std::size_t number) noexcept;
  cuda::Code signal(cuda::Stream stream, std::size_t number) noexcept;
  // The same, at once if the stream has nothing to do: that spares the device a store, and streams a wait.
  cuda::Code signal_early(cuda::Stream stream, std::size_t number) noexcept;
  // For all signals that were told until now. The stream is told nothing if they were given.
  cuda::Code await(cuda::Stream stream, std::size_t number) noexcept;
  // Whether they are given within the time that a stream would take to be told to wait and to find out. Stops
  // looking for a while where that was in vain.
  bool look_briefly(std::size_t number) noexcept;
  [[nodiscard]] bool is_reached(std::size_t number) const noexcept;
  // The peer is gone: what it was still to signal nobody waits for any more. Its streams may give some
  // signals later all the same, and the words go back: to be called again until our streams have passed.
  void release_all() noexcept;
  // The same of those in this memory, from any thread: whoever uses them finds them given.
  static void release(std::byte& memory) noexcept;
  // Some stream is to use them still, or may be: they are left to the process's end.
  static void leave(std::shared_ptr<Semaphores> used) noexcept;

 private:
  enum class State : std::uint8_t { unknown, open, refused };
  struct Words {
    std::atomic<std::uint32_t> told;
    std::atomic<std::uint32_t> reached;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes and devices share them");
  static void give(Words& words) noexcept;
  [[nodiscard]] Words& at(std::size_t number) const noexcept {
    return reinterpret_cast<Words*>(memory_.get())[number];
  }

  // What is registered: a page.
  [[nodiscard]] void* page() const noexcept;

  Port& port_;
  cuda::Api* api_ = nullptr;  // by which they were opened
  const std::shared_ptr<std::byte> memory_;
  State state_ = State::unknown;
  bool is_released_ = false;  // the peer is gone
  int looks_left_out_ = 0;    // of the next ones, so many
};

}  // namespace parley::transport::cuda_ipc
