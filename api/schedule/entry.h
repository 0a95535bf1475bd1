#pragma once

#include "api/schedule/builder.h"
#include "api/schedule/cost.h"
#include "api/schedule/operation.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// For which operators an algorithm that reduces is right.
enum class Order : std::uint8_t {
  any,             // folds in an order of its own: commutative operators only
  rank_if_root_0,  // in the order of the ranks if the root is rank 0
  rank,            // in the order of the ranks, whatever the brackets
};

// One algorithm for one operation.
struct Entry {
  Operation operation;
  Algorithm algorithm;
  // Appends this rank's steps. REQUIRES: size >= 2, and that `fits` holds.
  void (*generate)(Builder& builder, const Shape& shape);
  Cost (*cost)(const Shape& shape);
  Order order = Order::rank;
  // Each element of the result is one left fold over all ranks, in a single step: a 16-bit type rounds once.
  // All others send partial sums in the element type, and round after every hop.
  bool folds_once = false;
  // The shapes it is for; none: all.
  bool (*fits)(const Shape& shape) = nullptr;
};

}  // namespace parley::schedule
