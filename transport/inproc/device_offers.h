#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "transport/interface/offer_ledger.h"

namespace parley::transport {

// The offers of device memory of both sides of a link within a process, and the words beside them.
// Thread-safety: safe.
//
// Invariants: (1) a number is one offer's at a time: from open() to withdraw() or forget(), which its owner
// calls; its generation tells it from those before. (2) It is ended once: by withdraw() or by take(),
// whichever comes first. (3) From take() to note_told() withdraw() waits: the copy, and with it the signal
// that the owner's streams are to await, is told to the device before the owner goes on. Else the owner might
// have the very stream wait in which the copy is then put behind that wait.
class DeviceOffers {
 public:
  // Throws std::bad_alloc.
  DeviceOffers();

  // Nothing: all numbers are in use.
  std::optional<OfferTicket> open(std::size_t side) noexcept;
  // True: it stood.
  bool withdraw(std::size_t side, OfferTicket ticket) noexcept;
  void forget(std::size_t side, OfferTicket ticket) noexcept;
  // By the other side. True: it stood, and note_told() follows.
  bool take(std::size_t side, OfferTicket ticket) noexcept;
  void note_told(std::size_t side, OfferTicket ticket) noexcept;

  [[nodiscard]] std::byte* words(std::size_t side) noexcept { return words_.get() + side * offer_word_bytes; }

 private:
  static constexpr std::size_t most = 128;  // of one side
  enum class State : std::uint8_t { unused, standing, being_told, taken };
  struct Offer {
    State state = State::unused;
    std::uint32_t generation = 0;
  };
  struct Side {
    std::array<Offer, most> offers;
    std::array<std::uint32_t, most> unused;  // numbers, of which the first `unused_count` are
    std::size_t unused_count = 0;
  };
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  static void release(Side& side, std::uint32_t number) noexcept;

  const std::unique_ptr<std::byte, Free> words_;  // a page of both sides'
  std::mutex mutex_;                              // guards everything below
  std::condition_variable told_;
  std::array<Side, 2> sides_;
};

// What one side of a link sees of them.
class InprocLedger final : public OfferLedger {
 public:
  // The same side twice: a link to oneself.
  InprocLedger(std::shared_ptr<DeviceOffers> offers, std::size_t own, std::size_t peer) noexcept
      : offers_(std::move(offers)), own_(own), peer_(peer) {}

  std::optional<OfferTicket> open_offer() noexcept override { return offers_->open(own_); }
  bool withdraw_offer(OfferTicket ticket) noexcept override { return offers_->withdraw(own_, ticket); }
  void note_offer_taken(OfferTicket ticket) noexcept override { offers_->forget(own_, ticket); }
  bool take_offer(OfferTicket ticket) noexcept override { return offers_->take(peer_, ticket); }
  void note_copy_told(OfferTicket ticket) noexcept override { offers_->note_told(peer_, ticket); }
  std::shared_ptr<std::byte> own_words() noexcept override { return {offers_, offers_->words(own_)}; }
  std::shared_ptr<std::byte> peer_words() noexcept override { return {offers_, offers_->words(peer_)}; }
  base::UniqueFd end_of_peer() noexcept override { return {}; }
  [[nodiscard]] bool is_within_process() const noexcept override { return true; }

 private:
  const std::shared_ptr<DeviceOffers> offers_;
  const std::size_t own_;
  const std::size_t peer_;
};

}  // namespace parley::transport
