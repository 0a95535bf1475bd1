#pragma once

#include <pthread.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <system_error>

#include "bench/scale/own_use.h"
#include "bench/shared_memory.h"

namespace parley::bench::scale {

// Seconds of the steady clock, which is one for all processes of the machine.
inline double steady_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What one rank tells. Written by that rank alone.
struct Note {
  double ready = 0;  // steady_seconds() when its init() had returned
  double rate = 0;   // its own operations or messages per second
  OwnUse use;
};

// What ranks tell the process that has started them, and how they wait for each other without the library.
class Board {
 public:
  explicit Board(int ranks)
      : memory_(SharedMemory::create(sizeof(Head) + static_cast<std::size_t>(ranks) * sizeof(Note))),
        head_(new (memory_.data()) Head(static_cast<unsigned>(ranks))),
        notes_(reinterpret_cast<Note*>(head_ + 1), static_cast<std::size_t>(ranks)) {
    std::uninitialized_default_construct(notes_.begin(), notes_.end());
  }

  [[nodiscard]] std::span<Note> notes() const noexcept { return notes_; }
  [[nodiscard]] Note& note(int rank) const noexcept { return notes_[static_cast<std::size_t>(rank)]; }

  // Returns when all ranks have called it; asleep meanwhile. The library's way to wait would wake it.
  void meet() const { ::pthread_barrier_wait(&head_->barrier); }

  // Times that rank 0 has measured: one, or with one peer and with all. What others tell is not kept.
  void tell_time(int rank, std::size_t place, double time) const noexcept {
    if (rank == 0) head_->times[place] = time;
  }
  [[nodiscard]] double time(std::size_t place) const noexcept { return head_->times[place]; }

 private:
  struct alignas(64) Head {
    explicit Head(unsigned ranks) {
      pthread_barrierattr_t shared;
      ::pthread_barrierattr_init(&shared);
      ::pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
      const int error = ::pthread_barrier_init(&barrier, &shared, ranks);
      ::pthread_barrierattr_destroy(&shared);
      if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
    }
    pthread_barrier_t barrier{};
    std::array<double, 2> times{};
  };

  SharedMemory memory_;
  Head* head_;
  std::span<Note> notes_;
};

}  // namespace parley::bench::scale
