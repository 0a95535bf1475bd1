#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parley::base {

// What some copies have cost the core that made them.
struct CopyWork {
  std::uint64_t bytes = 0;
  float ns = 0;
};

// Times a few of the large copies of one kind, and of three takes the one in the middle: a copy may have met
// an interrupt, or have lost the core. Thread-safety: none.
template <typename Clock = std::chrono::steady_clock>
class BasicCopyMeter {
 public:
  using TimePoint = typename Clock::time_point;

  // A copy of so many bytes begins; end() follows when it was made. The zero time: this one is not timed.
  [[nodiscard]] TimePoint begin(std::size_t bytes) const noexcept {
    return bytes >= least_bytes && until_timed_ == 0 ? Clock::now() : TimePoint{};
  }
  // `began`: what begin() has said.
  void end(TimePoint began, std::size_t bytes) noexcept {
    if (bytes < least_bytes) return;
    if (began == TimePoint{}) {
      --until_timed_;
      return;
    }
    until_timed_ = copies_per_timing - 1;
    const auto took = std::chrono::duration<float, std::nano>(Clock::now() - began).count();
    timed_[count_] = {bytes, took};
    if (++count_ == timed_.size()) settle();
  }

  // Since the last call.
  [[nodiscard]] CopyWork take() noexcept { return std::exchange(work_, {}); }

  // A shorter one takes little longer than two looks at the clock.
  static constexpr std::size_t least_bytes = 64 << 10;
  static constexpr std::uint32_t copies_per_timing = 4;

 private:
  void settle() noexcept {
    count_ = 0;
    const auto is_faster = [](const CopyWork& one, const CopyWork& other) {
      return one.ns * static_cast<float>(other.bytes) < other.ns * static_cast<float>(one.bytes);
    };
    std::sort(timed_.begin(), timed_.end(), is_faster);
    work_.bytes += timed_[1].bytes;
    work_.ns += timed_[1].ns;
  }

  CopyWork work_;
  std::array<CopyWork, 3> timed_;
  std::uint32_t count_ = 0;  // of timed_
  std::uint32_t until_timed_ = copies_per_timing - 1;
};

using CopyMeter = BasicCopyMeter<>;

}  // namespace parley::base
