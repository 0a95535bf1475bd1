#include "api/collective/loans.h"

#include <algorithm>

namespace parley::collective {

using base::Code;
using base::Status;
using schedule::Loan;
using Sight = transport::Neighbour::Sight;

namespace {
constexpr std::uint32_t copied_bits[] = {LoanCard::copied_input_bit, LoanCard::copied_output_bit};
constexpr std::uint32_t any_copied_bits = LoanCard::copied_input_bit | LoanCard::copied_output_bit;
}  // namespace

void Loans::begin(Commons& commons, const Team& team, const transport::Messenger& messenger, const Plan& plan,
                  bool copies, const Buffers& own) {
  views_.resize(team.processes.size());
  commons_ = &commons;
  team_ = &team;
  messenger_ = &messenger;
  copies_ = copies;
  const std::array may_lend{plan.schedule.may_lend_input, plan.schedule.may_lend_output};
  const bool is_as_before = kept_for_ == may_lend && own_[0] == own.input && own_[1] == own.output;
  if (is_as_before && plan.roll_call == nullptr) [[likely]] {
    is_lent_ = may_lend;
    return;
  }
  own_[0] = own.input;
  own_[1] = own.output;
  own_card_ = {};
  bool could_lend_all = plan.if_lent != nullptr;
  const bool is_asked_for[] = {could_lend_all && plan.if_lent->schedule.may_lend_input,
                               could_lend_all && plan.if_lent->schedule.may_lend_output};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!may_lend[i] && !is_asked_for[i]) continue;
    auto key = key_of(own_[i]);
    const bool is_copied = !key && is_asked_for[i] && copies;
    if (is_copied) key = key_for_copies(own_[i]);
    could_lend_all = could_lend_all && (key || !is_asked_for[i]);
    if (!key) continue;
    is_lent_[i] = may_lend[i] && !is_copied;
    own_card_.buffers[i] = {*key, own_[i].bytes};
    if (is_copied) own_card_.lent |= copied_bits[i];
  }
  own_card_.lent |= (is_lent_[0] ? LoanCard::input_bit : 0U) | (is_lent_[1] ? LoanCard::output_bit : 0U) |
                    (could_lend_all ? LoanCard::all_bit : 0U);
  // Also where this rank's lie in the arena: those of others may not.
  if (may_bring() && may_copy()) own_card_.lent |= LoanCard::copies_bit;
  kept_for_.reset();
  if (plan.roll_call == nullptr && is_lent_ == may_lend) kept_for_ = may_lend;
}

void Loans::end() noexcept {
  if (commons_ == nullptr) return;
  commons_ = nullptr;
  has_asked_ = is_told_ = is_all_lent_ = is_any_copied_ = false;
  is_lent_ = {};
  liar_.reset();
  for (View& view : views_) {
    if (view.is_known && !view.is_kept) view = View();
    view.is_known = false;
  }
}

// Nothing: not all others see it. All are shown it all the same, for the next time.
std::optional<transport::RemoteKey> Loans::key_of(base::ConstMemoryRef memory) noexcept {
  if (memory.data == nullptr || memory.bytes == 0) return std::nullopt;
  std::optional<transport::RemoteKey> key;
  bool is_seen = true;
  for (const std::uint32_t rank : team_->neighbours) {
    transport::Neighbour* const other = neighbour(rank);
    if (other == nullptr) return std::nullopt;
    if (!key) key = other->key_of(memory);
    if (!key) return std::nullopt;  // it is none that can be shown
    const Sight sight = other->show(memory);
    is_seen = is_seen && sight == Sight::sees;
    has_asked_ = has_asked_ || sight == Sight::asked;
  }
  return is_seen ? key : std::nullopt;
}

bool Loans::may_copy() const noexcept {
  return std::all_of(team_->neighbours.begin(), team_->neighbours.end(), [&](std::uint32_t rank) {
    transport::Neighbour* const other = neighbour(rank);
    return other != nullptr && other->may_copy();
  });
}

// Nothing: not all others may read it.
std::optional<transport::RemoteKey> Loans::key_for_copies(base::ConstMemoryRef memory) const noexcept {
  if (memory.data == nullptr || memory.bytes == 0) return std::nullopt;
  std::optional<transport::RemoteKey> key;
  for (const std::uint32_t rank : team_->neighbours) {
    transport::Neighbour* const other = neighbour(rank);
    if (other == nullptr) return std::nullopt;
    key = other->key_for_copies(memory);
    if (!key) return std::nullopt;
  }
  return key;
}

void Loans::tell() noexcept {
  if (commons_ == nullptr || is_told_) return;
  is_told_ = true;
  commons_->write_card(card_, own_card_);
}

bool Loans::lend_all_if_everyone_can() noexcept {
  if (!could_lend_all()) return false;
  std::uint32_t any = own_card_.lent, every = own_card_.lent;
  for (const std::uint32_t rank : team_->neighbours) {
    const std::uint32_t told = commons_->card(rank, card_).lent;
    any |= told;
    every &= told;
  }
  const bool needs_copies = (any & any_copied_bits) != 0;
  const bool can_read_all = !needs_copies || (every & LoanCard::copies_bit) != 0;
  is_all_lent_ = (every & LoanCard::all_bit) != 0 && can_read_all;
  is_any_copied_ = is_all_lent_ && needs_copies;
  if (is_all_lent_)
    for (std::size_t i = 0; i < 2; ++i) is_lent_[i] = own_card_.buffers[i].bytes != 0;
  return is_all_lent_;
}

std::byte* Loans::find(std::uint32_t owner, Loan buffer, std::uint64_t begin, std::uint64_t bytes) noexcept {
  if (commons_ == nullptr) return nullptr;
  const std::size_t index = index_of(buffer);
  if (owner == team_->rank) {
    if (!is_lent_[index]) return nullptr;
    return const_cast<std::byte*>(static_cast<const std::byte*>(own_[index].data)) + begin;  // the caller's
  }
  View& view = views_[owner];
  if (!view.is_known) look_at(owner);
  const View::Buffer& lent = view.buffers[index];
  if (!lent.is_lent()) {
    if (is_all_lent_) liar_ = owner;  // and there is no stage to look at instead
    return nullptr;
  }
  if (begin > lent.bytes || bytes > lent.bytes - begin) {
    liar_ = owner;
    return nullptr;
  }
  return lent.is_copied ? nullptr : const_cast<std::byte*>(lent.memory.get()) + begin;  // read only
}

void Loans::look_at(std::uint32_t owner) noexcept {
  View& view = views_[owner];
  const LoanCard card = commons_->card(owner, card_);
  if (!view.is_kept || is_all_lent_ || card != view.card) view = view_by(card, owner);
  view.is_known = true;
}

Loans::View Loans::view_by(const LoanCard& card, std::uint32_t owner) noexcept {
  View view;
  view.card = card;
  constexpr std::uint32_t bits[] = {LoanCard::input_bit, LoanCard::output_bit};
  for (std::size_t i = 0; i < 2; ++i) {
    const LoanCard::Buffer& told = card.buffers[i];
    if ((card.lent & bits[i]) == 0 && !(is_all_lent_ && told.bytes != 0)) continue;
    View::Buffer& lent = view.buffers[i];
    transport::Neighbour* const other = neighbour(owner);
    lent.bytes = told.bytes;
    lent.is_copied = is_all_lent_ && (card.lent & copied_bits[i]) != 0;
    if (lent.is_copied)
      lent.key = told.key;
    else if (other != nullptr)
      lent.memory = other->look(told.key, told.bytes);
    if (!lent.is_lent()) liar_ = owner;
  }
  view.is_kept = !is_all_lent_ && !liar_;
  return view;
}

Status Loans::bring(std::uint32_t owner, Loan buffer, std::uint64_t begin, base::MemoryRef into) noexcept {
  transport::Neighbour* const other = neighbour(owner);
  const Status status = other == nullptr
                            ? Status(Code::peer_died)
                            : other->copy(views_[owner].buffers[index_of(buffer)].key, begin, into);
  // It may have been freed since.
  return commons_->is_card_withdrawn(owner, card_) ? Status() : status;
}

void Loans::withdraw() noexcept {
  // Others may know already that all lend.
  if (commons_ != nullptr && is_told_ && (lends() || could_lend_all())) commons_->withdraw_card(card_);
}

bool Loans::may_be_awaited() const noexcept {
  if (is_all_lent_) return true;
  return std::any_of(team_->neighbours.begin(), team_->neighbours.end(),
                     [&](std::uint32_t rank) { return !views_[rank].is_known || views_[rank].lends(); });
}

std::optional<std::uint32_t> Loans::withdrawn_by() const noexcept {
  if (commons_ == nullptr) return std::nullopt;
  for (std::uint32_t rank = 0; rank < views_.size(); ++rank) {
    const bool has_read = views_[rank].is_known && views_[rank].lends();
    if (has_read && commons_->is_card_withdrawn(rank, card_)) return rank;
  }
  return std::nullopt;
}

}  // namespace parley::collective
