#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/unique_fd.h"

namespace parley::transport {

// One offer as both ends of its link name it; travels in keys.
struct OfferTicket {
  std::uint32_t word = 0;
  std::uint32_t generation = 0;
};

// Of the memory beside the offers of one end.
inline constexpr std::size_t offer_word_bytes = 2048;

// Which offers of the two ends of a link stand; both see the same at the same time. An offer is ended by
// whoever comes first: its sender withdraws it, or its receiver takes it.
// Thread-safety: none; one thread at a time at each end.
class OfferLedger {
 public:
  // Of our own offers. Nothing: as many stand as there is room for.
  virtual std::optional<OfferTicket> open_offer() noexcept = 0;
  // Exactly one of these two is called, once, for each of them. False: it was taken.
  virtual bool withdraw_offer(OfferTicket ticket) noexcept = 0;
  // The receiver has told that it has taken it.
  virtual void note_offer_taken(OfferTicket ticket) noexcept = 0;

  // Of the peer's. False: it was withdrawn, or there is no such.
  virtual bool take_offer(OfferTicket ticket) noexcept = 0;
  // What was taken has been told to the device. Within a process withdraw_offer() waits for this: both ends
  // may use one stream.
  virtual void note_copy_told(OfferTicket /*ticket*/) noexcept {}

  // Memory beside the offers of either end, for words that go with them: offer_word_bytes, zero at first,
  // within a page and aligned to its own size; mapped by both ends and by each as long as it keeps what this
  // returns.
  virtual std::shared_ptr<std::byte> own_words() noexcept = 0;
  virtual std::shared_ptr<std::byte> peer_words() noexcept = 0;

  // Readable when the peer's process has ended, also when the link has. None: nobody can tell.
  virtual base::UniqueFd end_of_peer() noexcept = 0;

  // Whether both ends are of one process: what lies at an address for one of them lies there for the other.
  [[nodiscard]] virtual bool is_within_process() const noexcept { return false; }

 protected:
  ~OfferLedger() = default;
};

}  // namespace parley::transport
