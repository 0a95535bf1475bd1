#pragma once

#include <vector>

#include "bench/contender.h"
#include "bench/world.h"

namespace parley::bench {

// A measured library on one rank. Errors are the library's own exceptions.
class Library {
 public:
  virtual ~Library() = default;

  virtual World& world() = 0;
  // The library's ways of doing the stage's operation, on all ranks the same. They borrow stage and buffers.
  // Between this rank and its partner; none where that is measured by a session of its own.
  virtual std::vector<Contender> pair_contenders(const Stage& /*stage*/, int /*partner*/,
                                                 Buffers& /*buffers*/, const Plan& /*plan*/) {
    return {};
  }
  virtual std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) = 0;

 protected:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

}  // namespace parley::bench
