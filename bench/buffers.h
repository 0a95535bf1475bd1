#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "bench/devices/device_twins.h"
#include "bench/distinct_messages.h"

namespace parley::bench {

// What one rank sends from and receives into; both systems use the same memory. Page-aligned, every byte
// written and non-zero from the start: untouched or zeroed memory may be one shared page, which copies far
// too fast.
class Buffers {
 public:
  // `bytes` is the message size. The memory is at least `least_capacity` long, so that a byte stream may
  // carry several small messages in one call.
  static constexpr std::size_t least_capacity = 64 * 1024;
  // Bytes of memory for messages of that size.
  [[nodiscard]] static std::size_t room_for(std::size_t bytes) noexcept;
  // `rank` and `partner` choose the pattern that is sent and the one that is expected.
  Buffers(std::size_t bytes, int rank, int partner);
  // Sends from `out`, memory of the caller's with room_for(bytes).
  Buffers(std::size_t bytes, int rank, int partner, std::uint8_t* out);

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  // One message.
  [[nodiscard]] std::span<std::uint8_t> out() noexcept { return {out_, bytes_}; }
  [[nodiscard]] std::span<std::uint8_t> in() noexcept { return {in_.get(), bytes_}; }

  // From now on messages lie on the device, and what out() and in() name are their images: the calls below
  // move bytes between the two, and throw what DeviceTwins throws. Borrows the device.
  void move_to(RankDevice& device);
  // Null: they lie where they are.
  [[nodiscard]] DeviceTwins* twins() noexcept { return twins_.get(); }

  // Writes the message to be sent anew, each of its cache lines, with other bytes than before; and the end
  // that receives is told to expect those.
  void rewrite_out();
  void expect_rewritten() noexcept { partner_rewrote_ = !partner_rewrote_; }

  // Overwrites the received message, so that check_in() proves that another one came.
  void spoil_in();
  // Throws std::runtime_error when the received message is not the partner's.
  void check_in();

  // Messages that differ, from the memory of `out`; made when first asked for. REQUIRES: no device.
  [[nodiscard]] DistinctMessages& distinct();
  // Throws what DistinctMessages::check() throws. REQUIRES: they were received.
  void check_distinct();

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const noexcept;
  };
  using Memory = std::unique_ptr<std::uint8_t[], Free>;
  static Memory allocate(std::size_t bytes);

  std::size_t bytes_;
  std::size_t capacity_;
  int partner_;
  bool partner_rewrote_ = false;  // an odd number of times
  Memory own_out_;
  std::uint8_t* out_;
  Memory in_;
  std::unique_ptr<DeviceTwins> twins_;
  std::optional<DistinctMessages> distinct_;
};

}  // namespace parley::bench
