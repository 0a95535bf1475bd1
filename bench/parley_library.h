#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "bench/library.h"
#include "bench/limits/collective_loops.h"
#include "bench/options.h"
#include "bench/parley_world.h"

namespace parley::bench {

// Parley as one of the libraries whose collectives are measured; over shared memory beside raw loops.
class ParleyLibrary final : public Library {
 public:
  // Borrows both for its lifetime.
  ParleyLibrary(ProcessGroup& group, const Options& options)
      : group_(group), options_(options), world_(group) {}

  World& world() override { return world_; }
  // What is returned ends before the next call.
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override;

 private:
  Contender make_in_arena(const Stage& stage, const CollectiveBuffers& like);

  ProcessGroup& group_;
  const Options& options_;
  ParleyWorld world_;
  // Of the latest collective_contenders().
  Tensor arena_;
  std::optional<CollectiveBuffers> arena_buffers_;
  std::unique_ptr<CollectiveLimits> limits_;
};

}  // namespace parley::bench
