#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "transport/interface/offer_ledger.h"

namespace parley::transport {

// Which offers of both ends of a link stand, and the words beside them. Thread-safety: safe.
class InprocOffers {
 public:
  // Nothing: there is no memory.
  std::optional<OfferTicket> open(std::size_t end) noexcept;
  // Withdraws it or takes it. True: it stood.
  bool end(std::size_t end, OfferTicket ticket) noexcept;
  [[nodiscard]] std::byte* words(std::size_t end) noexcept { return words_.data() + end * offer_word_bytes; }

 private:
  alignas(2 * offer_word_bytes) std::array<std::byte, 2 * offer_word_bytes> words_{};
  std::mutex mutex_;                                 // guards everything below
  std::array<std::set<std::uint32_t>, 2> standing_;  // generations
  std::uint32_t last_ = 0;
};

// What one end of a link sees of them.
class InprocLedger final : public OfferLedger {
 public:
  // `own`, `peer`: the ends; the same for a link to oneself.
  InprocLedger(std::shared_ptr<InprocOffers> offers, std::size_t own, std::size_t peer) noexcept
      : offers_(std::move(offers)), own_(own), peer_(peer) {}

  std::optional<OfferTicket> open_offer() noexcept override { return offers_->open(own_); }
  bool withdraw_offer(OfferTicket ticket) noexcept override { return offers_->end(own_, ticket); }
  void note_offer_taken(OfferTicket) noexcept override {}
  bool take_offer(OfferTicket ticket) noexcept override { return offers_->end(peer_, ticket); }
  std::shared_ptr<std::byte> own_words() noexcept override { return {offers_, offers_->words(own_)}; }
  std::shared_ptr<std::byte> peer_words() noexcept override { return {offers_, offers_->words(peer_)}; }
  base::UniqueFd end_of_peer() noexcept override { return {}; }
  [[nodiscard]] bool is_within_process() const noexcept override { return true; }

 private:
  const std::shared_ptr<InprocOffers> offers_;
  const std::size_t own_;
  const std::size_t peer_;
};

}  // namespace parley::transport
