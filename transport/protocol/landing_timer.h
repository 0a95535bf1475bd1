#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/protocol/path_choice.h"
#include "transport/protocol/tender_turns.h"

namespace parley::transport {

// Times, for a PathChoice, whole messages of a peer that land in the buffers of their receives and might have
// been pulled. Thread-safety: none; the engine's lock.
class LandingTimer {
 public:
  // One begins to land. `look`: of a count of looks at the network, in which messages of a stream come
  // together.
  void begin(PathChoice& paths, std::size_t bytes, std::uint64_t look) noexcept {
    const bool is_alone = last_at_ != look;
    if ((bytes < TenderTurns::streamed_bytes && !is_alone) || !paths.wants_timing(Path::link, bytes)) return;
    since_ = Clock::now();
    paths.begin(Path::link, since_);
  }
  // It has landed.
  void end(PathChoice& paths, std::size_t bytes, std::uint64_t look) noexcept {
    last_at_ = look;
    const auto since = std::exchange(since_, {});
    if (since != Clock::time_point{}) paths.end(Path::link, bytes, since, Clock::now(), true);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_{};  // zero: it is not timed
  std::uint64_t last_at_ = 0;
};

}  // namespace parley::transport
