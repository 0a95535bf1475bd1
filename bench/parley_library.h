#pragma once

#include <parley/process_group.h>

#include <vector>

#include "bench/library.h"
#include "bench/options.h"
#include "bench/parley_world.h"

namespace parley::bench {

// Parley as one of the libraries whose collectives are measured.
class ParleyLibrary final : public Library {
 public:
  // Borrows both for its lifetime.
  ParleyLibrary(ProcessGroup& group, const Options& options)
      : group_(group), options_(options), world_(group) {}

  World& world() override { return world_; }
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override;

 private:
  ProcessGroup& group_;
  const Options& options_;
  ParleyWorld world_;
};

}  // namespace parley::bench
