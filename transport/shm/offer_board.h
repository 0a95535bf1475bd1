#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/fetch.h"
#include "transport/interface/offer_ledger.h"
#include "transport/shm/segment.h"

// Which offers stand: words that the sender of offers owns and the receiver maps. A receiver that
// pulls reads the sender's buffer without asking; the word says whether the buffer was still the sender's to
// give when the last byte had been read.
//
// Invariants:
//  1. A word counts the offers made with it that have ended. The sender alone allots words, each to one offer
//     at a time; an offer's generation is the count that it leaves behind.
//  2. An offer ends by one compare-and-swap of its word, from generation - 1 to generation: it is taken if
//     the receiver does that, after its last read of the buffer; it is withdrawn if the sender does, before
//     its caller may change the buffer. Whoever comes second fails and knows the other has done it.
//  3. The receiver hands out what it has read only if it has taken the offer. So all of it was read before
//     the sender could withdraw, and no byte was changed. What it has read otherwise is thrown away.
//  4. A send whose offer was taken is sent, whatever its own end wanted.
//  5. A word is allotted again only when its offer has ended: the sender has done that or failed to, or the
//     receiver has told it over the link, after the swap. An old generation is never found there again, which
//     its holder takes for withdrawn. (Counts wrap after 2^32 offers; nobody holds one for so long.)
//  6. Nobody waits: a sender that dies or is stopped holds up nobody, nor does a receiver. As long as all
//     goes well the sender does not touch the word, whose cache line stays with the receiver.
//  7. The peer is of our user and may write anything there. Then a send ends too early or too late; no memory
//     is touched because of it.
namespace parley::transport::shm {

using OfferToken = OfferTicket;

// Of one pair in one direction. Offers beyond them go without a key.
inline constexpr std::uint32_t board_words = 512;
// Of the memory that a board takes, and with what lies beside it: OfferLedger::own_words().
inline constexpr std::size_t board_bytes = board_words * sizeof(std::uint32_t);
inline constexpr std::size_t board_segment_bytes = board_bytes + offer_word_bytes;
static_assert(board_segment_bytes == 4096 && board_bytes % offer_word_bytes == 0, "they share a page");

// Of the two processes of a link: of our offers, and of the peer's.
struct Boards {
  Segment own;
  Segment peer;
};

// The sender's end. Thread-safety: none; the engine's lock.
class OwnOffers {
 public:
  // `memory`: board_bytes, aligned to them, zero, and there as long as this object is used.
  explicit OwnOffers(std::byte* memory) noexcept;

  // Nothing: all words are in use.
  std::optional<OfferToken> open() noexcept;
  // Ends an offer. True: it is withdrawn. False: it was taken.
  bool withdraw(OfferToken token) noexcept;
  // The receiver has told that it has taken it.
  void note_taken(OfferToken token) noexcept;

 private:
  std::atomic<std::uint32_t>* words_;
  std::array<std::uint32_t, board_words> ended_{};  // as the words count, or shall
  std::array<std::uint16_t, board_words> free_{};
  std::size_t free_count_ = board_words;
};

// The receiver's end. Thread-safety: as OwnOffers.
class PeerOffers {
 public:
  explicit PeerOffers(std::byte* memory) noexcept;

  // Whether such a word exists; anything may stand in a key.
  [[nodiscard]] static bool is_valid(OfferToken token) noexcept { return token.word < board_words; }
  // Whether the offer stands at this moment.
  [[nodiscard]] bool stands(OfferToken token) const noexcept;
  // Has this core fetch the word that take() will change. REQUIRES: is_valid(token).
  void fetch_ahead(OfferToken token) const noexcept { base::fetch_for_write(&words_[token.word]); }
  // After the last read of the buffer. False: the offer was withdrawn, and what was read is void.
  bool take(OfferToken token) noexcept;

 private:
  std::atomic<std::uint32_t>* words_;
};

}  // namespace parley::transport::shm
