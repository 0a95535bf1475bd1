#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace parley::collective {

// Whether ordinary memory that one rank has and one other wants shall be copied out of its process by the
// kernel: once, in 60 to 105 us a MiB, wherever the two run. Instead, a stage is copied into and out of: in
// 30 us a MiB each between cores that share a cache, in 70 to 100 between others. Nobody tells where the
// cores are, and they move; so each rank times what it copies into stages and out of them, by the size of the
// call, for small ones stay in caches. Others may think otherwise: who does not want copies says so (Loans)
// before anybody begins, and what comes out is the same either way. Pure: no clock. Thread-safety: none.
class CopyChoice {
 public:
  // What a byte is reckoned to take by the kernel; the copies into a stage and out of it are held against it.
  // More where data is folded: each rank copies a part of all inputs then, and the rest of the sums after it.
  // Stages of 0.055 ns a byte (AMD cores, 16 MiB) are faster than that, those of 0.067 (Intel) are not.
  static constexpr double moved_byte_ns = 0.1, folded_byte_ns = 0.12;

  explicit CopyChoice(double kernel_byte_ns) : kernel_byte_ns_(kernel_byte_ns) {}

  // Of the next call of so many bytes. All ranks ask this of the same calls, and so try stages anew in the
  // same ones.
  [[nodiscard]] bool prefers_kernel(std::size_t bytes) noexcept {
    SizeClass& own = classes_[class_of(bytes)];
    return own.calls++ % calls_per_trial != 0 && own.stages_are_slow;
  }
  // How long a copy into a stage or out of one has taken.
  struct Timing {
    std::size_t bytes = 0;
    std::chrono::nanoseconds took{};
  };
  [[nodiscard]] bool is_slow(const Timing& timing) const noexcept {
    return 2 * static_cast<double>(timing.took.count()) > kernel_byte_ns_ * static_cast<double>(timing.bytes);
  }
  // Those of a call. Most of its bytes decide: a few copies may have been interrupted.
  class Timings {
   public:
    void add(std::size_t bytes, bool is_slow) noexcept { (is_slow ? slow_ : fast_) += bytes; }
    [[nodiscard]] bool are_any() const noexcept { return slow_ + fast_ != 0; }
    [[nodiscard]] bool are_slow() const noexcept { return slow_ > fast_; }

   private:
    std::size_t slow_ = 0, fast_ = 0;  // bytes
  };
  // Of a call of so many bytes, at its end.
  void note(std::size_t bytes, const Timings& timings) noexcept {
    if (!timings.are_any()) return;
    SizeClass& own = classes_[class_of(bytes)];
    own.doubts = timings.are_slow() == own.stages_are_slow ? 0 : own.doubts + 1;
    if (own.doubts < needed_doubts) return;
    own.stages_are_slow = timings.are_slow();
    own.doubts = 0;
  }

  static constexpr int needed_doubts = 3;  // calls on end: one may have met pages for the first time
  static constexpr std::uint32_t calls_per_trial = 64;

 private:
  struct SizeClass {
    bool stages_are_slow = false;
    int doubts = 0;
    std::uint32_t calls = 0;
  };
  // Powers of two, from 256 KiB to 32 MiB and more.
  static constexpr int classes = 8;
  static constexpr int least_width = 18;
  [[nodiscard]] static std::size_t class_of(std::size_t bytes) noexcept {
    return static_cast<std::size_t>(
        std::clamp(static_cast<int>(std::bit_width(bytes)) - 1 - least_width, 0, classes - 1));
  }
  const double kernel_byte_ns_;
  std::array<SizeClass, classes> classes_;
};

}  // namespace parley::collective
