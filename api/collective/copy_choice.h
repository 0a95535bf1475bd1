#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "api/schedule/operation.h"

namespace parley::collective {

// Whether ordinary memory that the ranks of a host could lend each other shall be copied out of its process
// by the kernel: once, in 40 to 105 us a MiB, by whoever wants it. Instead, a stage is copied into and out
// of: in 25 us a MiB each between cores that share a cache, in 70 to 100 between others. Which takes longer
// depends on where the cores are, which move, on how many ranks share one, and on who wants what; nobody
// tells. So both ways are tried now and then, one call after another, and the faster one is taken.
//
// A call takes as long as its slowest rank. Each tells its time of one in a later call (LoanCard), where all
// hear the same, so they choose alike; where one begins its next call before it has heard, it may choose
// otherwise: who does not want copies says so before anybody begins (Loans), and what comes out is the same
// either way.
//
// The way with the shorter median of a trial is taken until the next one. Copies that take longer than they
// did in it, for a core has moved, end sooner: whether stages take longer, too, is not known.
// Pure: no clock. Thread-safety: none.
class CopyChoice {
 public:
  enum class Way : std::uint8_t { stages, kernel };

  // What is held apart: operations, and sizes, for small ones stay in caches.
  struct Subject {
    schedule::Operation operation{};
    std::size_t bytes = 0;  // count * element_bytes
  };
  struct Call {
    Way way = Way::stages;
    bool is_heard = false;  // it begins when all have told what they lend, and a time
    bool is_timed = false;
    bool is_trial = false;
  };
  // How long a call has taken this rank, as it tells the others.
  struct Timing {
    Subject subject;
    Call as;
    std::uint32_t call = 0;  // its number in the group, modulo 2^32. 0: none
    std::uint32_t took_ns = 0;
  };

  // Of a subject's calls, counted from 0. The first ones meet their memory for the first time, and find out
  // how to store (base::StoreChoice).
  static constexpr std::uint32_t first_trial = 16, calls_per_trial = 512;
  // A trial is calls one after another, first by stages and then by the kernel; the first ones of a way meet
  // what others have left in the caches. The time of its last one is heard in the call after it.
  static constexpr std::uint32_t entering_calls = 2, timed_calls = 5,
                                 calls_of_way = entering_calls + timed_calls;
  static constexpr std::uint32_t slow_calls_to_end = 8;  // on end, of copies

  // How the next call of a subject goes.
  [[nodiscard]] Call next(const Subject& subject) const noexcept {
    const SizeClass& own = classes_[operation_of(subject)][size_of(subject)];
    const std::uint32_t step = own.calls % calls_per_trial - first_trial;  // of a trial; modulo 2^32
    if (step < 2 * calls_of_way) {
      const Way way = step < calls_of_way ? Way::stages : Way::kernel;
      return {way, true, step % calls_of_way >= entering_calls, true};
    }
    if (own.is_by_kernel) return {Way::kernel, true, true, false};
    return {Way::stages, step == 2 * calls_of_way, false, false};
  }
  // It has begun. All ranks count the same calls.
  void count(const Subject& subject) noexcept {
    SizeClass& own = class_of(subject);
    if (own.calls++ % calls_per_trial == first_trial) own.begin_trial();
  }
  // What all have told of a call: how long the slowest one took.
  void note(const Timing& timing, std::uint32_t slowest_ns) noexcept {
    SizeClass& own = class_of(timing.subject);
    const float byte_ns = static_cast<float>(slowest_ns) / static_cast<float>(timing.subject.bytes);
    if (!timing.as.is_trial) return own.watch(byte_ns);
    own.times[static_cast<std::size_t>(timing.as.way)].push(byte_ns);
    own.judge();
  }

 private:
  // Of a way, for each byte: sizes of a class are not all alike.
  class Times {
   public:
    void push(float byte_ns) noexcept {
      if (count_ < timed_calls) byte_ns_[count_++] = byte_ns;
    }
    [[nodiscard]] bool is_complete() const noexcept { return count_ == timed_calls; }
    // REQUIRES: is_complete().
    [[nodiscard]] float median() const noexcept {
      auto sorted = byte_ns_;
      std::sort(sorted.begin(), sorted.end());
      return sorted[timed_calls / 2];
    }

   private:
    std::array<float, timed_calls> byte_ns_{};
    std::uint32_t count_ = 0;
  };
  struct SizeClass {
    std::uint32_t calls = 0;
    bool is_by_kernel = false;
    std::uint32_t slow_calls = 0;
    std::array<Times, 2> times;  // of the last trial, by way

    void begin_trial() noexcept {
      is_by_kernel = false;
      slow_calls = 0;
      times = {};
    }
    void judge() noexcept {
      const auto& [stages, kernel] = times;
      is_by_kernel = stages.is_complete() && kernel.is_complete() && kernel.median() < stages.median();
    }
    void watch(float byte_ns) noexcept {
      if (!is_by_kernel) return;
      const bool is_slow = byte_ns > 1.25F * times[1].median();
      slow_calls = is_slow ? slow_calls + 1 : 0;
      if (slow_calls == slow_calls_to_end) is_by_kernel = false;
    }
  };
  // Powers of two, from 256 KiB to 32 MiB and more.
  static constexpr int classes = 8;
  static constexpr int least_width = 18;
  [[nodiscard]] static std::size_t size_of(const Subject& subject) noexcept {
    const int size = static_cast<int>(std::bit_width(subject.bytes)) - 1 - least_width;
    return static_cast<std::size_t>(std::clamp(size, 0, classes - 1));
  }
  [[nodiscard]] static std::size_t operation_of(const Subject& subject) noexcept {
    return static_cast<std::size_t>(subject.operation);
  }
  [[nodiscard]] SizeClass& class_of(const Subject& subject) noexcept {
    return classes_[operation_of(subject)][size_of(subject)];
  }
  std::array<std::array<SizeClass, classes>, schedule::operation_count> classes_{};
};

}  // namespace parley::collective
