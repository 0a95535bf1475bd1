#pragma once

#include "tools/sim/model.h"
#include "tools/sim/rows.h"

namespace parley::sim {

// The time that the model predicts for what a row measured: of the very algorithm that the library takes
// there.
double predict(const Model& model, const Row& row);

}  // namespace parley::sim
