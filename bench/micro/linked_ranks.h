#pragma once

#include <parley/parley.h>

#include <array>
#include <cstdint>
#include <memory>

namespace parley::wireup {
struct World;
}  // namespace parley::wireup

namespace parley::transport {
class Transport;
}  // namespace parley::transport

namespace parley::bench {

enum class LinkKind { shm, tcp };  // tcp: over loopback

// One of two ranks in this process, driven by one thread: what a message costs both sides, without the way
// between two cores. Nothing goes on in the background.
struct LinkedRank {
  std::unique_ptr<wireup::World> world;  // until there is the group
  transport::Transport* transport = nullptr;
  ProcessGroup group;

  LinkedRank(int rank, LinkKind kind);
  ~LinkedRank();
  LinkedRank(LinkedRank&&) noexcept;
  // Whether the link to the other one is up. Makes progress.
  bool is_linked_to(std::uint32_t other);
};

std::array<LinkedRank, 2> linked_ranks(LinkKind kind);

}  // namespace parley::bench
