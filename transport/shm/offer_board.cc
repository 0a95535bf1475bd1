#include "transport/shm/offer_board.h"

namespace parley::transport::shm {
namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == sizeof(std::uint64_t));

enum class OfferState : std::uint8_t {
  unused,     // never allotted
  offered,    // the buffer is the receiver's to read
  taken,      // the receiver has read everything
  cancelled,  // the sender's caller has the buffer again
};

std::uint64_t pack(std::uint32_t generation, OfferState state) noexcept {
  return (std::uint64_t{generation} << 8) | static_cast<std::uint8_t>(state);
}

bool move_on(Word& word, std::uint32_t generation, OfferState next, std::memory_order order) noexcept {
  std::uint64_t expected = pack(generation, OfferState::offered);
  // relaxed on failure: nothing is read because of it.
  return word.compare_exchange_strong(expected, pack(generation, next), order, std::memory_order_relaxed);
}

}  // namespace

OwnOffers::OwnOffers(std::byte* memory) noexcept : words_(reinterpret_cast<Word*>(memory)) {
  for (std::uint32_t i = 0; i < board_words; ++i) free_[i] = static_cast<std::uint16_t>(board_words - 1 - i);
}

std::optional<OfferToken> OwnOffers::open() noexcept {
  if (free_count_ == 0) return std::nullopt;
  const std::uint32_t word = free_[--free_count_];
  const std::uint32_t generation = ++generations_[word];
  // relaxed: the receiver looks at the word only once it has the offer, and the link orders the two.
  words_[word].store(pack(generation, OfferState::offered), std::memory_order_relaxed);
  return OfferToken{word, generation};
}

bool OwnOffers::close(OfferToken token) noexcept {
  free_[free_count_++] = static_cast<std::uint16_t>(token.word);
  // acquire: what the caller writes to its buffer from now on stays behind this.
  return move_on(words_[token.word], token.generation, OfferState::cancelled, std::memory_order_acquire);
}

PeerOffers::PeerOffers(std::byte* memory) noexcept : words_(reinterpret_cast<Word*>(memory)) {}

bool PeerOffers::stands(OfferToken token) const noexcept {
  // relaxed: a hint; take() decides.
  return words_[token.word].load(std::memory_order_relaxed) == pack(token.generation, OfferState::offered);
}

bool PeerOffers::take(OfferToken token) noexcept {
  // release: what was read of the buffer, by the kernel on this core, stays before this.
  return move_on(words_[token.word], token.generation, OfferState::taken, std::memory_order_release);
}

}  // namespace parley::transport::shm
