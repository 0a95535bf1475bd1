#include "api/collective/commons.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "transport/base/fence.h"

namespace parley::collective {

void Commons::prepare(std::byte* board) noexcept {
  for (int turn = 0; turn < slots; ++turn) {
    const auto entered = static_cast<std::uint64_t>(schedule::mark_of(turn, schedule::Progress::entered));
    // relaxed: a message tells others of the board, and orders that.
    (new (board + slot_at(static_cast<std::uint64_t>(turn))) BoardSlot{})
        ->word.store(word_of(entered, 0), std::memory_order_relaxed);
  }
  new (board + waiting_at) std::atomic<std::int64_t>(0);
  // relaxed: the numbers guard nothing. release: what its memory was before is over, and was read; pairs with
  // is_unread().
  static std::atomic<std::uint64_t> boards{0};
  const std::uint64_t number = boards.fetch_add(1, std::memory_order_relaxed) + 1;
  (new (board + left_at) std::atomic<std::uint64_t>(0))->store(number << 1, std::memory_order_release);
  for (std::size_t card = 0; card < cards; ++card) new (board + first_card + card * card_stride) SharedCard();
}

Commons::Commons(const Team& team, const Sets& sets, std::shared_ptr<std::byte> own,
                 std::vector<Other> others)
    : team_(team),
      sets_{PlacedSet{first_stage, std::countr_zero(sets.usual.count), sets.usual},
            PlacedSet{first_stage + sets.usual.all_bytes(), std::countr_zero(sets.ahead.count), sets.ahead}},
      own_(std::move(own)),
      others_(std::move(others)),
      views_(team.processes.size()) {
  assert(sets.usual.in_turn <= sets.usual.bytes && sets.ahead.in_turn <= sets.ahead.bytes);
  views_[team.rank].board = own_.get();
  for (const std::uint32_t rank : team_.neighbours) {
    View& view = views_[rank];
    view.board = const_cast<std::byte*>(others_[rank].board.get());  // read only
    // acquire: a message has told of the boards, and this of what has become of them since. One whose owner
    // has left already keeps its number.
    view.in_use = stay_word(rank).load(std::memory_order_acquire) & ~has_left;
    sleep_words_.push_back(others_[rank].sleep_word.get());
  }
}

[[gnu::hot]] Commons::Turns Commons::take_turns(std::uint32_t count) noexcept {
  const std::uint64_t first = next_turn_;
  next_turn_ += count;
  next_card_ = (next_card_ + 1) % cards;
  return {first_mark_of(first), next_card_};
}

[[gnu::hot]] void Commons::publish(std::uint64_t mark, std::uint64_t call) noexcept {
  auto& own = *reinterpret_cast<BoardSlot*>(views_[team_.rank].board + slot_at(turn_of(mark)));
  // release: see invariant 2; pairs with has_reached().
  own.word.store(word_of(mark, call), std::memory_order_release);
  own_turn_ = turn_of(mark);
  own_calls_[own_turn_ % own_calls_.size()] = call;
}

[[gnu::hot]] void Commons::compare_between(std::uint32_t rank, std::uint64_t first,
                                           std::uint64_t end) noexcept {
  for (std::uint64_t turn = std::max(first, oldest_known_turn()); turn < end && turn <= own_turn_; ++turn) {
    // relaxed: nothing is read on the strength of it. It was told before the later mark that we have seen.
    const std::uint64_t word = slot(rank, turn).word.load(std::memory_order_relaxed);
    const std::uint64_t difference =
        (word ^ word_of(first_mark_of(turn), own_calls_[turn % own_calls_.size()])) & ~marks_of_a_turn;
    const bool is_of_this_turn = (difference & ~call_mask) == 0;
    if (is_of_this_turn && difference != 0) [[unlikely]]
      stray_ = Stray{rank, word & call_mask};
  }
}

std::optional<std::uint64_t> Commons::next_call(std::uint32_t rank) noexcept {
  const std::uint64_t entered =
      first_mark_of(next_turn_) + static_cast<std::uint64_t>(schedule::Progress::entered);
  return has_reached(rank, entered) ? call_of(rank, entered) : std::nullopt;
}

// relaxed, both: nothing is read on the strength of it.
void Commons::tell_waiting(std::int64_t number) noexcept {
  waiting_word(team_.rank).store(number + 1, std::memory_order_relaxed);
}

bool Commons::waits_in(std::uint32_t rank, std::int64_t number) const noexcept {
  return waiting_word(rank).load(std::memory_order_relaxed) == number + 1;
}

void Commons::write_card(std::uint32_t card, const LoanCard& content) noexcept {
  SharedCard& own = shared_card(team_.rank, card);
  // What says the same already stays in the caches of those who read it. relaxed: published by the mark, with
  // the rest.
  if (own.is_withdrawn.load(std::memory_order_relaxed) != 0)
    own.is_withdrawn.store(0, std::memory_order_relaxed);
  if (own.content != content) own.content = content;
}

LoanCard Commons::card(std::uint32_t rank, std::uint32_t card) const noexcept {
  return shared_card(rank, card).content;
}

std::optional<std::uint32_t> Commons::longest_time(std::uint32_t card) const noexcept {
  const LoanCard& own = shared_card(team_.rank, card).content;
  if (own.timed_call == 0) return std::nullopt;
  std::uint32_t longest = own.took_ns;
  for (const std::uint32_t rank : team_.neighbours) {
    const LoanCard& told = shared_card(rank, card).content;
    if (told.timed_call != own.timed_call) return std::nullopt;
    longest = std::max(longest, told.took_ns);
  }
  return longest;
}

void Commons::withdraw_card(std::uint32_t card) noexcept {
  // Fence: what is written to the memory from here on is seen by nobody who does not see this, too. Pairs
  // with is_card_withdrawn().
  shared_card(team_.rank, card).is_withdrawn.store(1, std::memory_order_relaxed);
  base::full_fence();
}

bool Commons::is_card_withdrawn(std::uint32_t rank, std::uint32_t card) const noexcept {
  base::full_fence();  // the reading comes before
  return shared_card(rank, card).is_withdrawn.load(std::memory_order_relaxed) != 0;
}

void Commons::leave(std::byte* board) noexcept {
  auto& stay = *reinterpret_cast<std::atomic<std::uint64_t>*>(board + left_at);
  // relaxed: only its owner writes it. release: our last looks at the others' boards come before. Pairs with
  // is_unread().
  stay.store(stay.load(std::memory_order_relaxed) | has_left, std::memory_order_release);
}

bool Commons::is_unread(const transport::Messenger& messenger) const noexcept {
  for (const std::uint32_t rank : team_.neighbours) {
    const transport::PeerState state = messenger.peer(team_.processes[rank]).state;
    const bool has_ended = state == transport::PeerState::left || state == transport::PeerState::down;
    // acquire: what comes into our board next is written after their last looks.
    const bool stays = stay_word(rank).load(std::memory_order_acquire) == views_[rank].in_use;
    if (!has_ended && stays) return false;
  }
  return true;
}

[[gnu::hot]] void Commons::ring(transport::Messenger& messenger) const noexcept {
  base::full_fence();
  // relaxed: the fence orders these loads after the mark's store, and nothing is read because of them.
  for (std::size_t i = 0; i < sleep_words_.size(); ++i)
    if (sleep_words_[i]->load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(messenger, team_.neighbours[i]);
}

// It may have ended in its sleep, and the link with it.
void Commons::wake(transport::Messenger& messenger, std::uint32_t rank) const noexcept {
  if (transport::Neighbour* const other = neighbour_of(messenger, team_, rank); other != nullptr)
    other->ring_after_fence();
}

}  // namespace parley::collective
