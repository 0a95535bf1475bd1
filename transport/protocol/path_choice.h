#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/protocol/copy_rate.h"
#include "transport/protocol/core_costs.h"
#include "transport/protocol/path.h"

namespace parley::transport {

// Which path is the faster one depends on the size of the message, on where the buffers and the caches are,
// and on what else the two processes do. This learns it for the messages from one peer, by what they took
// from match to end, here at the receiver.
//
// 1. For each class of sizes the faster path is the favourite; the other one becomes it when messages of its
//    own, of a trial as a rule, show that it is faster: of messages up to 512 KiB the link by a quarter, and
//    the pull at all, for the pauses in which the link is filled take their share then, and rule 4 leaves
//    them out; of larger ones the link by a twentieth, and the pull by a fifth, for the link takes some
//    messages to get to its pace. At first the favourite is that of the next smaller class that was used,
//    else the pull.
// 2. The other one is tried on a few messages now and then: after the first three, then after four times as
//    many as the trial took, eight times, ..., and for good 64 times, which is 1.5 % of the bytes; more
//    rarely by as much as it was slower, which makes it 1.5 % of the time. It is tried at once when the
//    favourite has been the slower one for 16 samples on end (if its sender tenders: at its next trial):
//    fewer are a burst after other work, whose caches are cold. After a change all this begins anew, with 64
//    messages. A class that begins with what a smaller one has found tries as rarely as that one does, but
//    twice as often for each class that it is above it. In a trial new samples take the place of what was
//    found before; of messages whose path is not ours to choose they do so after 16 samples of the favourite.
//    Where the other one was timed before anything was known of the favourite, for all of a deep window is
//    matched at once, it is compared as soon as that is known.
// 3. The messages of one path are served one after the other. So what was served since a message's match, or
//    since the last look at the clock if that is later, took the time from then to its end, with all that
//    were not timed. What was served while the other path was busy does not count.
// 4. The first message of a trial does not count, nor the first one at all, nor the first two of the first
//    trial: pages are touched for the first time, and the link leases its window. One that takes much longer
//    than the average counts only if the next one does, too: its process had lost the core. A trial ends with
//    the fourth that counts, with a change, or with the 64th; where it has told nothing, for the rest of a
//    window went the other way, the next one is twice as long, up to 256.
// 5. With traffic both ways, which most of the last arrivals tell, both ends take the same path for messages
//    of a class that go both ways. One of them leads and takes that which costs the two cores less
//    (CoreCosts); the other one does what it sees done with most of its own messages. Of other messages, and
//    of those that may be tendered, each end takes the link only where a pull takes more than twice as long:
//    the link keeps both processes busy, and a pull one, while the other one may pull, too (where ranks share
//    cores, rule 8 has that in the rates). What a pull took
//    while we put data of our own on the link does not count, and of what the link took then, half does: the
//    rates are those of traffic one way.
// 6. A sender that does not put its data on the link soon computes, and a pull takes none of its time. After
//    that the next 8 messages are pulled, after the next time 16, up to 1 024. Where ranks share cores it may
//    be that it had none, and it stays at 8.
// 7. Of a message that may be tendered its sender chooses the path, and which to try (TenderTurns); it is
//    told the favourites. Few of those that take the favourite are timed, for two looks at the clock count.
//
// 8. Where ranks share cores, what both of them need their cores for counts, and nobody's waits do
//    (CoreClock; waits in calls of the engine while a message is under way, it sees no others): of the link
//    what it took here, and as much for the sender.
//
// Pure: no clock. Thread-safety: none; the engine's lock.
class PathChoice {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Who chooses for both ends, with traffic both ways.
  enum class Lead : std::uint8_t { ours, peers };

  // The path of the next message. begin() and end() follow, or none of them.
  Path choose(std::size_t bytes, Lead lead = Lead::ours) noexcept;
  // Whether to ask the sender of the next message to put it on the link, if that is the better way: rule 6.
  bool may_ask() noexcept {
    if (skip_ == 0) return true;
    --skip_;
    return false;
  }
  // Of one whose path others have chosen: whether begin() and end() are to follow.
  bool wants_timing(Path path, std::size_t bytes) noexcept;

  // Whether the answer for the next one of that size will be yes.
  [[nodiscard]] bool times_next(Path path, std::size_t bytes) const noexcept;

  // When something began, and what had been served until then.
  struct Start {
    TimePoint at{};
    std::uint64_t ended_bytes = 0;
    bool in_stream = false;        // over the link: there was no pause before it
    std::uint32_t own_pieces = 0;  // that we had put on the link until then
  };
  [[nodiscard]] Start start(TimePoint now) const noexcept { return {now, ended_bytes_, false, own_pieces_}; }

  // A message that takes this path is matched.
  Start begin(Path path, TimePoint now) noexcept;
  // It has ended, or takes this path no longer. `since`: its begin(), or an earlier start; `whole`: all of it
  // came by this path.
  void end(Path path, std::size_t bytes, const Start& since, TimePoint now, bool whole) noexcept;
  // One that is not timed has ended.
  void note_end(std::size_t bytes) noexcept { ended_bytes_ += bytes; }

  // A large message has come, while sends of ours to the peer were under way, or not.
  void note_arrival(bool beside_own_sends) noexcept;
  // Before the path of one of so many bytes is chosen: what copies to and from the peer have cost since
  // the last time.
  void note_copies(std::size_t bytes, const CopyNews& news) noexcept;
  // A message of ours is offered to the peer, who may pull it; and the peer takes it this way.
  void note_offered(std::size_t bytes) noexcept;
  void note_taken(std::size_t bytes, Path path) noexcept;
  // We have put data of our own on the link to the peer.
  void note_own_piece() noexcept {
    ++own_pieces_;
    note_other_way();
  }

  // Whether ranks give their cores to each other; `now` passes then as on a CoreClock.
  void share_cores(bool shared) noexcept { shares_cores_ = shared; }
  [[nodiscard]] bool shares_cores() const noexcept { return shares_cores_; }

  // How long a pull of so much takes, by this class or the next smaller one of which that is known; 0: by
  // none.
  [[nodiscard]] std::chrono::nanoseconds pull_time(std::size_t bytes) const noexcept;

  // The sender has put the data of a message on the link soon enough, or not.
  void note_answered() noexcept;
  void note_unanswered() noexcept;

  // Of messages of this size, as things are.
  [[nodiscard]] Path favourite(std::size_t bytes) const noexcept { return better_now(class_of(bytes)); }

  // A bit for each class below 1 MiB, from the smallest: set if its messages are better pulled, as things
  // are.
  [[nodiscard]] std::uint32_t pulled_classes() const noexcept;
  // Which bit that is.
  static std::size_t class_of(std::size_t bytes) noexcept;
  static constexpr std::size_t tender_classes = 7;                         // up to 16 KiB, 32 KiB, ..., 1 MiB
  static constexpr std::uint32_t all_pulled = (1U << tender_classes) - 1;  // before anything was timed

  static constexpr std::uint32_t first_trial_after = 3;  // messages
  static constexpr std::uint32_t least_restraint = 4;    // times what a trial took
  static constexpr std::uint32_t most_restraint = 64;
  static constexpr std::uint32_t usual_trial = 64;  // messages, at most
  static constexpr std::uint32_t most_of_a_trial = 256;
  // With traffic both ways a few pulls tell what they cost, whatever goes on beside them; the link does so
  // only when the other end has come after, a window later.
  static constexpr std::uint32_t pulls_to_try = 4;
  static constexpr std::uint32_t longest_try_of_link = 2 * usual_trial;
  // Arrivals, more than went the other way, after which traffic goes one way: in both directions whole
  // windows may come in turns.
  static constexpr std::uint32_t arrivals_of_one_way = 128;

 private:
  struct Class {
    std::array<CopyRate, 2> rates;
    Path favourite = Path::pull;
    bool is_new = true;     // no message has had this size
    bool is_known = false;  // what the favourite takes was so once
    bool on_trial = false;
    Path trial = Path::link;  // what is tried, while it is
    std::uint32_t restraint = least_restraint;
    std::uint32_t tried = 0;  // messages of this trial
    std::uint32_t longest_trial = usual_trial;
    std::uint32_t wait = first_trial_after;
    std::uint32_t untimed = 0;  // of the favourite, since one was timed
    std::uint32_t age = 0;      // of the other one's rate: samples of the favourite since its last one
    std::uint32_t slower = 0;   // samples of the favourite, in a row, by which it is the slower one
  };

  // What the peer does with messages of ours.
  struct Habit {
    bool has_offers = false;  // of ours, of this class
    std::uint8_t pulls = 0;   // of the last ones, about
    Path path = Path::link;
  };

  // Whether both ends are to take the same path.
  [[nodiscard]] bool is_joint(std::size_t place) const noexcept {
    return is_both_ways_ && place >= tender_classes && habits_[place - tender_classes].has_offers;
  }
  void note_other_way() noexcept {
    if (arrivals_alone_ != 0) --arrivals_alone_;
  }
  // The favourite; with traffic both ways what rule 5 says.
  [[nodiscard]] Path better_now(std::size_t place) const noexcept;
  [[nodiscard]] static bool may_skip_timing(const Class& of, Path path) noexcept;
  static std::size_t index(Path path) noexcept { return static_cast<std::size_t>(path); }
  void inherit(std::size_t place) noexcept;
  void begin_trial(std::size_t place, Path trial) noexcept;
  [[nodiscard]] std::uint32_t most_to_try(std::size_t place) const noexcept;
  void end_trial(std::size_t place) noexcept;
  // After a sample of this path: takes another favourite, or wants a trial, where the rates say so.
  void compare(std::size_t place, Path sampled) noexcept;
  void change(std::size_t place) noexcept;
  // What a byte takes by this path, as rule 5 or rule 1 reckons; 0: not known.
  [[nodiscard]] float cost_now(std::size_t place, Path path) const noexcept;

  static constexpr std::size_t classes = 11;  // up to 16 KiB, doubling; the last one: more than 8 MiB
  static_assert(classes - tender_classes == CoreCosts::classes);

  std::array<Class, classes> classes_;
  std::array<std::uint32_t, 2> in_flight_{};  // by path
  std::uint64_t ended_bytes_ = 0;
  std::uint32_t own_pieces_ = 0;
  std::uint32_t beside_own_ = 0;      // of the last arrivals, about
  std::uint32_t arrivals_alone_ = 0;  // more than went the other way, since one was beside sends of ours
  bool is_both_ways_ = false;
  bool shares_cores_ = false;
  CoreCosts costs_;                               // with traffic both ways, of messages that are not tendered
  std::array<Habit, CoreCosts::classes> habits_;  // the same
  bool by_link_alone_ = true;                     // neither end has pulled since copies were noted last
  Start last_end_;                                // of a message that was timed
  TimePoint mixed_until_{};                       // both paths were busy then
  std::uint32_t skip_ = 0;  // so many messages are pulled before the link is asked again
  std::uint32_t skip_next_ = least_skip;
  std::uint32_t answered_ = 0;  // since skip_next_ was last changed

  static constexpr std::uint32_t least_skip = 8;
  static constexpr std::uint32_t most_skip = 1024;
};

}  // namespace parley::transport
