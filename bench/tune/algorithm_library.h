#pragma once

#include <parley/process_group.h>

#include <map>
#include <string_view>
#include <vector>

#include "api/schedule/operation.h"
#include "bench/library.h"
#include "bench/parley_world.h"

namespace parley::bench::tune {

// The algorithm that a plan in words (ProcessGroup::describe_plan()) takes. Throws std::runtime_error when
// there is none in it.
schedule::Algorithm algorithm_in(std::string_view plan);

// Parley's ways to do a collective, by algorithm: each is called in a group of its own, of all ranks, whose
// members have asked for it. The way that the world's own group takes is the first; those that cannot do the
// call are left out.
class AlgorithmLibrary final : public Library {
 public:
  // All ranks make one. Borrows the group.
  explicit AlgorithmLibrary(ProcessGroup& group);

  World& world() override { return world_; }
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override;

 private:
  ProcessGroup& group_of(schedule::Algorithm algorithm);

  ProcessGroup& group_;
  ParleyWorld world_;
  std::map<schedule::Algorithm, ProcessGroup> groups_;  // made when they are first needed, by all ranks alike
};

}  // namespace parley::bench::tune
