#include "transport/shm/offer_board.h"

namespace parley::transport::shm {
namespace {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == sizeof(std::uint32_t));

bool end(Word& word, std::uint32_t generation, std::memory_order order,
         std::memory_order order_of_failure) noexcept {
  std::uint32_t expected = generation - 1;
  return word.compare_exchange_strong(expected, generation, order, order_of_failure);
}

}  // namespace

OwnOffers::OwnOffers(std::byte* memory) noexcept : words_(reinterpret_cast<Word*>(memory)) {
  for (std::uint32_t i = 0; i < board_words; ++i) free_[i] = static_cast<std::uint16_t>(board_words - 1 - i);
}

std::optional<OfferToken> OwnOffers::open() noexcept {
  if (free_count_ == 0) return std::nullopt;
  const std::uint32_t word = free_[--free_count_];
  return OfferToken{word, ended_[word] + 1};
}

bool OwnOffers::withdraw(OfferToken token) noexcept {
  note_taken(token);
  // acquire, either way: what the caller writes to its buffer from now on stays behind this, and behind the
  // receiver's last look at it.
  return end(words_[token.word], token.generation, std::memory_order_acquire, std::memory_order_acquire);
}

void OwnOffers::note_taken(OfferToken token) noexcept {
  ended_[token.word] = token.generation;
  free_[free_count_++] = static_cast<std::uint16_t>(token.word);
}

PeerOffers::PeerOffers(std::byte* memory) noexcept : words_(reinterpret_cast<Word*>(memory)) {}

bool PeerOffers::stands(OfferToken token) const noexcept {
  // relaxed: a hint; take() decides.
  return words_[token.word].load(std::memory_order_relaxed) == token.generation - 1;
}

bool PeerOffers::take(OfferToken token) noexcept {
  // release: what was read of the buffer, by us or by the kernel on this core, stays before this.
  // relaxed on failure: what was read is void.
  return end(words_[token.word], token.generation, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace parley::transport::shm
