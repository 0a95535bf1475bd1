#pragma once

#include <parley/dtype.h>
#include <parley/process_group.h>

#include <cstddef>
#include <string>

namespace parley::testing {

struct Case {
  std::size_t count = 1;  // of one rank's block
  DType dtype = DType::f32;
  int root = 0;
  bool in_place = false;  // otherwise lists are of tensors that lie apart
  bool async_op = false;
  Device device = {};      // of all tensors
  bool is_shared = false;  // this rank's are in memory that other ranks can map
  [[nodiscard]] std::string title(const ProcessGroup& group) const;
};

// Calls every collective of tensors, and expects the right elements. By all ranks of the group.
void expect_every_collective(ProcessGroup& group, const Case& of);
// The same with blocks that differ in size, where there are such.
void expect_uneven_collectives(ProcessGroup& group, const Case& of);

}  // namespace parley::testing
