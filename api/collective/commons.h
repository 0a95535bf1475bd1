#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "api/collective/plan.h"
#include "api/schedule/slice.h"
#include "transport/base/fetch.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/mover.h"
#include "transport/interface/neighbour.h"
#include "transport/protocol/messenger.h"

namespace parley::collective {

// What is seen of another rank's memory, as long as there is a link to it that shows any; else null.
[[nodiscard]] inline transport::Neighbour* neighbour_of(const transport::Messenger& messenger,
                                                        const Team& team, std::uint32_t rank) noexcept {
  const transport::Endpoint* const endpoint = messenger.peer(team.processes[rank]).endpoint;
  return endpoint == nullptr ? nullptr : endpoint->neighbour;
}

// What a rank shows the others of its group on its host: its board. Only its owner writes it. All "others"
// are those, its neighbours.
//
// Invariants; marks and turns as in api/schedule/schedule.h:
// 1. The mark in a slot only grows. Turns use one slot after another.
// 2. Line and stage of a turn are written before its mark is (release), and read by others after they have
//    seen that (acquire).
// 3. They are written again, as many turns later as there are slots, or stages of the call's set, only when
//    all who may read them have been seen to enter the turn after theirs, which they do when they have. So
//    who shows something to all is less than that many turns ahead of them, and who shows nothing, or
//    something to one alone, one turn more, for he waits for a mark of one who is not. Each compares the
//    calls that others' marks tell of with its own ones of as many turns, also of turns whose marks it has
//    not waited for.
// 4. Which stage is a turn's, and where in it its place is, follows from the turn and from what its call uses
//    at most, which all ranks know: another turn's place is in another stage, or was before by 3, whatever
//    its call uses. The stages of StageSet::ahead are others than the usual ones.
// 5. Of a rank's cards calls use one after another, and there are as many as slots. A card is written, unless
//    it says the same already, after its rank has made room for a turn of the call, or looked back from it,
//    and so knows by 3 that all others have done with the call that used the card before, which took a turn
//    at least; it is read by those who have seen a mark that was published after. What may be set later is
//    `is_withdrawn`.
// Nothing of what others write is believed: a mark from nowhere makes wrong results, as a wrong message
// would.
struct BoardSlot {
  static constexpr std::size_t line_bytes = 56;

  // The mark, modulo 2^12, for no rank is more than some turns ahead of another; and, below it, the call that
  // the turn belongs to: see call_word().
  std::atomic<std::uint64_t> word;
  std::array<std::byte, line_bytes> line;
};
// A call, in a word: its number in the group, modulo 2^8, and Signature::packed().
inline constexpr int call_bits = transport::note_bits + 8;
inline constexpr std::uint64_t call_mask = (std::uint64_t{1} << call_bits) - 1;
inline constexpr std::uint64_t note_mask = (std::uint64_t{1} << transport::note_bits) - 1;
constexpr std::uint64_t call_word(std::int64_t number, std::uint64_t note) noexcept {
  return (static_cast<std::uint64_t>(number) << transport::note_bits | note) & call_mask;
}
static_assert(sizeof(BoardSlot) == 64 && std::atomic<std::uint64_t>::is_always_lock_free,
              "one cache line, which processes share");

// What a rank lends in one call: see Loans; and how long an earlier one took it.
struct LoanCard {
  static constexpr std::uint32_t input_bit = 1;
  static constexpr std::uint32_t output_bit = 2;
  static constexpr std::uint32_t all_bit = 4;  // all that is told, if everyone could
  // These are copied out of the process then, by Neighbour::copy(); others are mapped.
  static constexpr std::uint32_t copied_input_bit = 8;
  static constexpr std::uint32_t copied_output_bit = 16;
  static constexpr std::uint32_t copies_bit = 32;  // this rank may do so with those of all others
  struct Buffer {
    transport::RemoteKey key;
    std::uint64_t bytes = 0;
  };
  friend bool operator==(const LoanCard& left, const LoanCard& right) noexcept {
    return std::memcmp(&left, &right, sizeof(LoanCard)) == 0;
  }
  std::uint32_t lent = 0;                     // bits
  std::uint32_t timed_call = 0, took_ns = 0;  // the earlier one's number, as in CopyChoice::Timing
  std::uint32_t unused = 0;
  Buffer buffers[2] = {};  // input, output
};
static_assert(std::has_unique_object_representations_v<LoanCard>, "it is compared as bytes, by each call");

// The boards of a host's ranks, as one of them sees them, and how far each has come.
// Thread-safety: none; the engine's lock.
class Commons {
 public:
  // Of marks and lines: so many calls a rank may be ahead of others who only take what it shows.
  static constexpr int slots = 8;
  // What turns use one after another. All are powers of two.
  struct Stages {
    std::size_t bytes = 0;  // of one
    std::uint64_t count = 2;
    std::size_t in_turn = bytes;  // of one, at most: what turns that need less take places of in turn

    [[nodiscard]] std::size_t all_bytes() const noexcept { return count * bytes; }
    // As plans have it.
    [[nodiscard]] PlanCache::SharedRoom::Stages room() const noexcept {
      return {bytes, static_cast<std::int32_t>(std::min<std::uint64_t>(count, slots))};
    }
  };
  struct Sets {
    Stages usual;
    Stages ahead = {};  // of no bytes: all calls use the usual ones
  };
  [[nodiscard]] static std::size_t board_bytes(const Sets& sets) noexcept {
    return first_stage + sets.usual.all_bytes() + sets.ahead.all_bytes();
  }
  // Has entered all turns before the first one. REQUIRES: memory of board_bytes(), aligned to 64 bytes.
  static void prepare(std::byte* board) noexcept;

  // What we see of a neighbour.
  struct Other {
    std::shared_ptr<const std::byte> board;
    std::shared_ptr<const std::atomic<std::uint32_t>> sleep_word;  // see transport::Neighbour
  };
  // `others`: by rank, of our neighbours; `own` is prepared.
  Commons(const Team& team, const Sets& sets, std::shared_ptr<std::byte> own, std::vector<Other> others);

  [[nodiscard]] PlanCache::SharedRoom room() const noexcept {
    return {.line_bytes = BoardSlot::line_bytes,
            .line_turns = slots,
            .usual = stages_of(StageSet::usual).room(),
            .ahead = stages_of(StageSet::ahead).room()};
  }

  struct Turns {
    std::uint64_t first_mark = 0;
    std::uint32_t card = 0;  // which of them
  };
  // The next `count` turns are the caller's. All ranks take them in the same order.
  Turns take_turns(std::uint32_t count) noexcept;
  // And so many more. REQUIRES: it was the last to take some.
  void take_further_turns(std::uint32_t count) noexcept { next_turn_ += count; }
  // Has this core own the line of the next turn before we publish there. For who begins a call: others look
  // at it while they wait for us, and a store alone would have to take it from them.
  void fetch_next_line() const noexcept { base::fetch_for_write(line(team_.rank, next_turn_)); }

  // Our own mark. Wakes nobody: see ring().
  void publish(std::uint64_t mark, std::uint64_t call) noexcept;
  // Wakes those who sleep, so that they look at what was published. Costs a fence.
  void ring(transport::Messenger& messenger) const noexcept;
  // Whether rank `rank` has come so far.
  [[nodiscard, gnu::always_inline]] bool has_reached(std::uint32_t rank, std::uint64_t mark) noexcept {
    Seen& seen = views_[rank].seen;
    if (seen.mark >= mark) return true;
    // acquire: what was written before the mark is read after it.
    const std::uint64_t word = slot(rank, turn_of(mark)).word.load(std::memory_order_acquire);
    const std::int64_t ahead = ahead_by(word, mark);
    if (ahead < 0) return false;
    const Seen now{mark + static_cast<std::uint64_t>(ahead), word & call_mask};
    if (turn_of(now.mark) > turn_of(seen.mark) + 1) [[unlikely]]
      compare_between(rank, turn_of(seen.mark) + 1, turn_of(now.mark));
    seen = now;
    return true;
  }
  // Has this core fetch the word that tells of it. Of a turn long ago: a rank that is about to write there
  // would have to fetch it back.
  void fetch_mark(std::uint32_t rank, std::uint64_t mark) const noexcept {
    __builtin_prefetch(&slot(rank, turn_of(mark)));
  }
  // The same of what is compared when rank `peer`, or everyone, is seen to have come so far: words of turns
  // before, whose marks nobody here has waited for. Most were written long ago; each is read once then, and
  // would be awaited where it is compared, after the mark.
  void fetch_between(std::uint32_t peer, std::uint64_t mark) const noexcept {
    if (peer != schedule::everyone) return fetch_words_between(peer, mark);
    for (const std::uint32_t rank : team_.neighbours) fetch_words_between(rank, mark);
  }
  // Whether all others have come so far, as far as note_all() was told.
  [[nodiscard]] bool all_have_reached(std::uint64_t mark) const noexcept { return all_seen_ >= mark; }
  void note_all(std::uint64_t mark) noexcept { all_seen_ = mark; }
  // The call that rank `rank` was in when it reached `mark`. Nothing: it is in a later turn already.
  // REQUIRES: has_reached(rank, mark).
  [[nodiscard]] std::optional<std::uint64_t> call_of(std::uint32_t rank, std::uint64_t mark) const noexcept {
    const Seen& seen = views_[rank].seen;
    return turn_of(seen.mark) == turn_of(mark) ? std::optional(seen.call) : std::nullopt;
  }
  // Whether there is no stray, and rank `rank` was in our call, `own`, when it reached `mark`, unless it is
  // in a later turn already. REQUIRES: the same.
  [[nodiscard]] bool is_in_step(std::uint32_t rank, std::uint64_t mark, std::uint64_t own) const noexcept {
    return !stray_ && call_of(rank, mark).value_or(own) == own;
  }
  // A rank that was in another call than we were, in a turn whose mark nobody has waited for: who only shows
  // something waits for no mark of that turn, and what comes next may wait for a later one.
  struct Stray {
    std::uint32_t rank = 0;
    std::uint64_t call = 0;
  };
  [[nodiscard]] const std::optional<Stray>& stray() const noexcept { return stray_; }
  // Our own call in a turn that we have entered, one of the last `slots`.
  [[nodiscard]] std::uint64_t own_call(std::uint64_t mark) const noexcept {
    return own_calls_[turn_of(mark) % own_calls_.size()];
  }
  // What rank `rank` has called in the turn that nobody here has taken yet, if it has entered that.
  [[nodiscard]] std::optional<std::uint64_t> next_call(std::uint32_t rank) noexcept;
  // Lets the others know which call we have waited in for a while, by its whole number: by messages ranks may
  // be thousands of calls apart, and those in a word begin anew after 256.
  void tell_waiting(std::int64_t number) noexcept;
  // Whether rank `rank` has said that of this call, and of no other one since.
  [[nodiscard]] bool waits_in(std::uint32_t rank, std::int64_t number) const noexcept;

  // Our own. Before the mark that tells of it.
  void write_card(std::uint32_t card, const LoanCard& content) noexcept;
  // Of another one, after such a mark of his.
  [[nodiscard]] LoanCard card(std::uint32_t rank, std::uint32_t card) const noexcept;
  // The longest time that is told there, if all tell of the same call. REQUIRES: as card(), of all others.
  [[nodiscard]] std::optional<std::uint32_t> longest_time(std::uint32_t card) const noexcept;
  // What we have lent is written from now on. Whoever has read some of that sees that it is withdrawn.
  void withdraw_card(std::uint32_t card) noexcept;
  [[nodiscard]] bool is_card_withdrawn(std::uint32_t rank, std::uint32_t card) const noexcept;

  // We read and show nothing more.
  void leave() noexcept { leave(own_.get()); }
  // The same for whose prepared board has become part of no Commons.
  static void leave(std::byte* board) noexcept;
  // Whether all others have left, or their processes have ended: then our board may become something else.
  [[nodiscard]] bool is_unread(const transport::Messenger& messenger) const noexcept;

  // Where rank `owner` shows something in a turn, counted as marks are. Only our own may be written.
  [[nodiscard]] std::byte* line(std::uint32_t owner, std::uint64_t turn) const noexcept {
    return views_[owner].board + slot_at(turn) + offsetof(BoardSlot, line);
  }
  // `set`, `bytes`: which stages the call uses, and how much of its own each turn at most, the same on all
  // ranks. Turns of such calls take one place of so many bytes after another in its first Stages::in_turn
  // bytes. 0: always its first bytes. REQUIRES: 0, or a power of two of at most Stages::bytes.
  [[nodiscard]] std::byte* stage(std::uint32_t owner, std::uint64_t turn, StageSet set,
                                 std::size_t bytes) const noexcept {
    const auto& [first, log2_count, stages] = sets_[static_cast<std::size_t>(set)];
    const std::size_t place = (turn >> log2_count) * bytes & (std::max(bytes, stages.in_turn) - 1);
    return views_[owner].board + first + (turn & (stages.count - 1)) * stages.bytes + place;
  }
  // The mark from which those of a turn are counted.
  [[nodiscard]] static std::uint64_t first_mark_of(std::uint64_t turn) noexcept {
    return turn * static_cast<std::uint64_t>(schedule::marks_per_turn);
  }
  [[nodiscard]] static std::uint64_t turn_of(std::uint64_t mark) noexcept {
    return mark / static_cast<std::uint64_t>(schedule::marks_per_turn);
  }

 private:
  // Two lines each: the second is fetched with the first. That of the first slot tells who has left, that of
  // the second one which call its owner waits in.
  static constexpr std::size_t slot_stride = 128;
  static constexpr std::size_t left_at = 64;
  static constexpr std::size_t waiting_at = slot_stride + 64;
  static constexpr std::size_t first_card = slots * slot_stride;
  static constexpr std::size_t cards = slots;
  static constexpr std::size_t card_stride = 128;
  static constexpr std::size_t first_stage = first_card + cards * card_stride;
  struct SharedCard {
    std::atomic<std::uint32_t> is_withdrawn{0};
    LoanCard content;
  };
  static_assert(sizeof(SharedCard) <= card_stride);

  struct PlacedSet {
    std::size_t first = 0;  // where the first stage lies on a board
    int log2_count = 0;
    Stages stages;
  };
  [[nodiscard]] const Stages& stages_of(StageSet set) const noexcept {
    return sets_[static_cast<std::size_t>(set)].stages;
  }

  // The latest mark of a rank that was seen, and the call beside it.
  struct Seen {
    std::uint64_t mark = 0;
    std::uint64_t call = 0;
  };
  // Board and mark stand together, for calls look at both.
  struct View {
    std::byte* board = nullptr;  // null: it is on another host
    Seen seen;
    std::uint64_t in_use = 0;  // the stay_word() of who has not left
  };

  void wake(transport::Messenger& messenger, std::uint32_t rank) const noexcept;
  void fetch_words_between(std::uint32_t rank, std::uint64_t mark) const noexcept {
    const std::uint64_t first = std::max(turn_of(views_[rank].seen.mark) + 1, oldest_known_turn());
    for (std::uint64_t turn = first; turn < turn_of(mark); ++turn) __builtin_prefetch(&slot(rank, turn));
  }
  // Of those whose call of ours we know.
  [[nodiscard]] std::uint64_t oldest_known_turn() const noexcept { return own_turn_ + 1 - slots; }
  // Compares the calls of a rank with our own ones, of turns [first, end), as far as they are still told.
  void compare_between(std::uint32_t rank, std::uint64_t first, std::uint64_t end) noexcept;

  // Of a word: what differs between the marks of one turn.
  static constexpr std::uint64_t marks_of_a_turn = std::uint64_t{schedule::marks_per_turn - 1} << call_bits;
  static_assert(std::has_single_bit(std::uint64_t{schedule::marks_per_turn}));
  [[nodiscard]] static std::uint64_t word_of(std::uint64_t mark, std::uint64_t call) noexcept {
    return mark << call_bits | call;
  }
  // How much greater the mark in a word is; the difference, too, is kept modulo 2^12.
  [[nodiscard]] static std::int64_t ahead_by(std::uint64_t word, std::uint64_t mark) noexcept {
    const std::uint64_t marks = (word >> call_bits) - mark;
    return static_cast<std::int64_t>(marks << call_bits) >> call_bits;
  }
  [[nodiscard]] static std::size_t slot_at(std::uint64_t turn) noexcept { return turn % slots * slot_stride; }
  [[nodiscard]] const BoardSlot& slot(std::uint32_t rank, std::uint64_t turn) const noexcept {
    return *reinterpret_cast<const BoardSlot*>(views_[rank].board + slot_at(turn));
  }

  [[nodiscard]] SharedCard& shared_card(std::uint32_t rank, std::uint32_t card) const noexcept {
    return *reinterpret_cast<SharedCard*>(views_[rank].board + first_card + card * card_stride);
  }
  // Which of its owner's boards this is, twice, and whether the owner has left. Once the others have left,
  // the memory serves another group, or something else: who still looks finds another word there, which the
  // owner can have written only after it had left.
  [[nodiscard]] std::atomic<std::uint64_t>& stay_word(std::uint32_t rank) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(views_[rank].board + left_at);
  }
  static constexpr std::uint64_t has_left = 1;
  // One more than the number of the call that its owner has said last that it waits in; 0: none.
  [[nodiscard]] std::atomic<std::int64_t>& waiting_word(std::uint32_t rank) const noexcept {
    return *reinterpret_cast<std::atomic<std::int64_t>*>(views_[rank].board + waiting_at);
  }

  const Team team_;
  const std::array<PlacedSet, 2> sets_;  // by StageSet
  const std::shared_ptr<std::byte> own_;
  const std::vector<Other> others_;
  std::vector<View> views_;                                     // by rank
  std::vector<const std::atomic<std::uint32_t>*> sleep_words_;  // of our neighbours, one after another
  std::array<std::uint64_t, slots> own_calls_{};                // by slot
  std::uint64_t all_seen_ = 0;
  std::uint64_t own_turn_ = slots - 1;  // that we have entered last
  std::optional<Stray> stray_;
  std::uint64_t next_turn_ = slots;
  std::uint32_t next_card_ = 0;
};

}  // namespace parley::collective
