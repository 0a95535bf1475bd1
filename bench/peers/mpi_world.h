#pragma once

#include <cstddef>
#include <span>

#include "bench/world.h"

namespace parley::bench {

// The ranks of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. At most one in a process. What MPI itself
// finds wrong ends all ranks.
class MpiWorld final : public World {
 public:
  MpiWorld();
  ~MpiWorld() override;
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override;
  void send_bytes(std::span<const std::byte> data, int destination) override;
  void recv_bytes(std::span<std::byte> data, int source) override;

  // Ends all ranks with this exit code, at once.
  [[noreturn]] static void abort(int code);

 private:
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace parley::bench
