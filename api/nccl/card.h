#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "api/nccl/library.h"
#include "api/wireup/link_settings.h"

namespace parley::nccl {

// What a rank tells the others of a group before they first do something together on devices. Travels as it
// is. `why_not`: ends with a zero byte, and is cut where it is too long.
struct Card {
  std::int32_t version = 0;  // of NCCL; 0: there is none
  wireup::DeviceWish wish = wireup::DeviceWish::automatic;
  bool shares_device = false;  // NCCL lets ranks share one, as NCCL_MULTI_RANK_GPU_ENABLE=1 asks for
  bool is_split_off = false;   // it has a communicator on this device, split off from its parent's
  char why_not[105] = {};      // why there is no NCCL
  cuda::DeviceId device{};
};
static_assert(std::is_trivially_copyable_v<Card> && sizeof(Card) == 128);

// How a group's devices work together, the same on all ranks, and why so, in words.
struct Choice {
  bool is_nccl = false;
  std::string why = {};            // "each rank has a device of its own"; "ranks 0 and 1 share a device"
  std::string contradiction = {};  // a wish for NCCL that cannot be granted; else ""
};
// A wish for a path below NCCL counts most, then one for NCCL. By themselves groups of several ranks take it
// where each has a device of its own and all have the same NCCL. `cards`: by rank.
[[nodiscard]] Choice choose(std::span<const Card> cards);

// What the ranks of a group wish.
class Wishes {
 public:
  void add(wireup::DeviceWish wish) noexcept;
  // Whether they take NCCL where nothing else is against it, as choose() has it.
  [[nodiscard]] bool want_nccl() const noexcept;

 private:
  std::size_t ranks_ = 0;
  bool has_one_for_nccl_ = false;
  bool has_one_against_ = false;
};

// NCCL's first version in which ranks may share a device.
inline constexpr int first_version_for_sharing = 23000;

}  // namespace parley::nccl
