#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/protocol/core_clock.h"
#include "transport/protocol/path_choice.h"
#include "transport/protocol/tender_turns.h"

namespace parley::transport {

// Times, for a PathChoice, whole messages of a peer that land in the buffers of their receives and might have
// been pulled. Thread-safety: none; the engine's lock.
//
// The sender's copy counts, too. In a stream it is made while the message before lands, and the slower of the
// two decides: one counts from the end of the one before. It is a stream if we have sent the peer nothing
// that it may have waited for, and if the pause is not so long that the peer had something else to do. A lone
// one that was there as a whole was copied before we looked, and of one that comes in pieces, in one look or
// in several, the first one was. Where ranks share cores PathChoice counts it.
template <typename Clock = CoreClock>
class BasicLandingTimer {
 public:
  // One begins to land. `look`: of a count of looks at the network, in which messages of a stream come
  // together; `first_bytes`: its first piece; `sent_at`: at which something was last sent to the peer;
  // `is_there`: all of it, or more than its first piece (see Endpoint::sender_was_ahead).
  void begin(PathChoice& paths, Clock& clock, std::size_t bytes, std::size_t first_bytes, std::uint64_t look,
             std::uint64_t sent_at, bool is_there) noexcept {
    const bool is_alone = last_at_ != look;
    if ((bytes < TenderTurns::streamed_bytes && !is_alone) || !paths.wants_timing(Path::link, bytes)) return;
    if (sent_at >= last_at_) before_ = {};
    begun_at_ = look;
    first_share_ = static_cast<double>(std::min(first_bytes, bytes)) / static_cast<double>(bytes);
    was_there_ = is_there;
    since_ = paths.begin(Path::link, clock.now());
  }
  // It has landed. `from_memory`: see Endpoint::lands_from_memory.
  void end(PathChoice& paths, Clock& clock, std::size_t bytes, std::uint64_t look,
           bool from_memory) noexcept {
    last_at_ = look;
    const auto since = std::exchange(since_, {});
    const bool is_timed = since.at != PathChoice::TimePoint{};
    if (!is_timed) {
      paths.note_end(bytes);
      if (bytes < TenderTurns::streamed_bytes || !paths.times_next(Path::link, bytes)) return;
    }
    const auto now = clock.now();
    if (is_timed) {
      const auto took = now - since.at;
      const bool in_stream = since.at - before_.at <= longest_pause * took;
      auto start = in_stream ? before_ : since;
      start.in_stream = in_stream;
      if (!in_stream && !paths.shares_cores()) {
        if (!was_there_ || look != begun_at_)
          start.at -= std::chrono::duration_cast<std::chrono::nanoseconds>(took * first_share_);
        else
          start.at -= from_memory ? took / copies_to_memory : senders_copy * took;
      }
      paths.end(Path::link, bytes, start, now, true);
    }
    before_ = paths.start(now);
  }

 private:
  // Of one that goes to memory: so many are made in the time that it takes to land.
  static constexpr int copies_to_memory = 2;
  // Both times what it takes to land: lines that the reader's core has had are slow to write.
  static constexpr int senders_copy = 2;
  static constexpr int longest_pause = 4;

  PathChoice::Start since_;     // zero: it is not timed
  PathChoice::Start before_;    // the end of the one before it; zero: no stream
  double first_share_ = 0;      // the first piece's, of the message of since_
  std::uint64_t begun_at_ = 0;  // the look of since_
  bool was_there_ = false;      // the same message
  std::uint64_t last_at_ = 0;
};

using LandingTimer = BasicLandingTimer<>;

}  // namespace parley::transport
