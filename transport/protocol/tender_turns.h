#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/protocol/path_choice.h"

namespace parley::transport {

// Which of the messages that a sender may tender it does tender: as their receiver has found faster for the
// class of their size (PathChoice), and the other way now and then, for the receiver to learn what that
// takes. A trial of the link goes once round its memory, and half as much again: only then is that as near as
// it is for a program that sends much. One of pulls needs no more than what leaves the stream of the others.
// Each is at least 8 messages long. The first one comes after 8 messages, then they come after 4, 16, 64 and
// at last each 128 times as many, those of pulls 512 times, for a pull may take four times as long; on news,
// which are certain by then, after 1 024 messages, 16 times as many and so on.
//
// Pure. Thread-safety: none; the engine's lock.
class TenderTurns {
 public:
  // Whether the next message of this size is tendered, and not sent whole.
  bool next(std::size_t bytes) noexcept {
    const std::size_t place = PathChoice::class_of(bytes);
    if (place >= PathChoice::tender_classes) return true;
    Turn& turn = turns_[place];
    const bool is_pulled = (pulled_classes_ >> place & 1U) != 0;
    if (turn.until_trial != 0) {
      --turn.until_trial;
      return is_pulled;
    }
    const auto lap = std::max(static_cast<std::uint32_t>(lap_bytes / bytes), shortest_trial);
    const auto trial = is_pulled ? lap : std::min(lap, longest_trial_of_pulls);
    if (++turn.tried >= trial) {
      turn.tried = 0;
      turn.until_trial = turn.restraint * trial;
      turn.restraint = std::min(4 * turn.restraint, is_pulled ? most_restraint : most_restraint_of_pulls);
    }
    return !is_pulled;
  }

  // The receiver's PathChoice::pulled_classes(). A trial that has brought something new is over.
  void hear(std::uint32_t pulled_classes) noexcept {
    const std::uint32_t news = std::exchange(pulled_classes_, pulled_classes) ^ pulled_classes;
    for (std::size_t place = 0; place < turns_.size(); ++place)
      if ((news >> place & 1U) != 0)
        turns_[place] = {.until_trial = after_news, .restraint = restraint_after_news};
  }

  // In a stream of smaller ones the time between two messages counts, and the link is better at that: only a
  // lone one is tendered, or timed.
  static constexpr std::size_t streamed_bytes = 48 << 10;
  static constexpr std::uint32_t before_first_trial = 8;  // messages
  static constexpr std::uint32_t after_news = 1024;
  static constexpr std::uint32_t restraint_after_news = 16;
  static constexpr std::uint32_t shortest_trial = 8;
  static constexpr std::uint32_t longest_trial_of_pulls = 24;
  static constexpr std::size_t lap_bytes = 6 << 20;  // of a window of 4 MiB, the largest
  static constexpr std::uint32_t most_restraint = 128;
  static constexpr std::uint32_t most_restraint_of_pulls = 512;

 private:
  struct Turn {
    std::uint32_t until_trial = before_first_trial;  // messages
    std::uint32_t tried = 0;                         // of this trial
    std::uint32_t restraint = 4;                     // times as many messages follow as a trial has
  };

  std::array<Turn, PathChoice::tender_classes> turns_;
  std::uint32_t pulled_classes_ = PathChoice::all_pulled;
};

}  // namespace parley::transport
