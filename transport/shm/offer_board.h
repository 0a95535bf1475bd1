#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

// Which offers stand: a page of words that the sender of offers owns and the receiver maps. A receiver that
// pulls reads the sender's buffer without asking; the word says whether the buffer was still the sender's to
// give when the last byte had been read.
//
// Invariants, for one offer, which is a word and a generation:
//  1. The sender alone allots words. A word that it allots gets a generation that it never had, and the state
//     `offered`; the offer travels by the link after that.
//  2. There are two ways out of `offered`, both by compare-and-swap: to `taken` by the receiver, after its
//     last read of the buffer, and to `cancelled` by the sender, before its caller may change the buffer. One
//     of the two happens, never both.
//  3. The receiver hands out what it has read only if it has moved the word to `taken`. So all of it was read
//     before `cancelled`, and no byte was changed. What it has read otherwise is thrown away.
//  4. A send whose offer was taken is sent, whatever its own end wanted: whoever takes an offer back and
//     finds it taken learns that the receiver has everything.
//  5. A word is allotted again only when it is out of `offered`. An old offer's generation is not found there
//     any more, which its receiver takes for `cancelled`.
//  6. Nobody waits: a sender that dies or is stopped holds up nobody, nor does a receiver.
//  7. The peer is of our user and may write anything there. Then a send ends too early or too late; no memory
//     is touched because of it.
namespace parley::transport::shm {

// One offer as both sides name it; travels in the key.
struct OfferToken {
  std::uint32_t word = 0;
  std::uint32_t generation = 0;
};

// Of one pair in one direction. Offers beyond them go without a key.
inline constexpr std::uint32_t board_words = 512;
// Of the memory that a board takes.
inline constexpr std::size_t board_bytes = board_words * sizeof(std::uint64_t);

// The sender's end. Thread-safety: none; the engine's lock.
class OwnOffers {
 public:
  // `memory`: board_bytes, aligned to them, zero, and there as long as this object is used.
  explicit OwnOffers(std::byte* memory) noexcept;

  // Nothing: all words are in use.
  std::optional<OfferToken> open() noexcept;
  // The offer ends, whatever became of it. True: nobody takes it any more. False: it was taken.
  bool close(OfferToken token) noexcept;

 private:
  std::atomic<std::uint64_t>* words_;
  std::array<std::uint32_t, board_words> generations_{};
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
  // After the last read of the buffer. False: the offer was taken back, and what was read is void.
  bool take(OfferToken token) noexcept;

 private:
  std::atomic<std::uint64_t>* words_;
};

}  // namespace parley::transport::shm
