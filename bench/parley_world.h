#pragma once

#include <parley/process_group.h>

#include "bench/world.h"

namespace parley::bench {

// Ranks that Parley brings together. Borrows the group.
class ParleyWorld final : public World {
 public:
  explicit ParleyWorld(ProcessGroup& group) : group_(group) {}

  [[nodiscard]] int rank() const override { return group_.rank(); }
  [[nodiscard]] int size() const override { return group_.size(); }
  void barrier() override { group_.barrier(); }
  void send_bytes(std::span<const std::byte> data, int destination) override;
  void recv_bytes(std::span<std::byte> data, int source) override;

 private:
  ProcessGroup& group_;
};

}  // namespace parley::bench
