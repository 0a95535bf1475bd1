#pragma once

#include <span>
#include <vector>

#include "api/schedule/cost.h"
#include "api/schedule/entry.h"
#include "api/schedule/operation.h"
#include "api/schedule/schedule.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// What a caller may ask of the order in which contributions are folded.
struct Traits {
  bool keeps_rank_order = false;  // right for operators that do not commute
  bool folds_once = false;  // rank order, and one left fold over all ranks at once: Determinism::rank_order
};

// All algorithms, of all operations. The pointer of an entry stays valid for ever.
std::span<const Entry> catalogue();

// nullptr where there is no such algorithm for the operation.
const Entry* find_entry(Operation operation, Algorithm algorithm) noexcept;

// Whether make() can be called.
bool supports(Operation operation, Algorithm algorithm, const Shape& shape);
// The algorithms that support this, in the order of the enumeration.
std::vector<Algorithm> supported(Operation operation, const Shape& shape);

// The three below REQUIRE: supports(operation, algorithm, shape).
Traits traits(Operation operation, Algorithm algorithm, const Shape& shape);
// What rank shape.rank does. Pure: same shape, same schedule, on every rank and in every run.
Schedule make(Operation operation, Algorithm algorithm, const Shape& shape);
// A bound that holds for each rank. In an uneven all_to_all a rank knows its own counts only, and the bound
// is this rank's.
Cost cost(Operation operation, Algorithm algorithm, const Shape& shape);

}  // namespace parley::schedule
