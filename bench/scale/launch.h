#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// Worlds up to this size are linked when they start, unless PARLEY_FULL_MESH_LIMIT says otherwise.
inline constexpr int largest_full_mesh = 32;

// A world of `ranks` processes that is measured once and gone: its figures. None where the stage has none for
// so many ranks. Throws std::runtime_error when a rank fails, or does not end in time.
std::vector<std::pair<Quantity, double>> measure_world(Stage stage, int ranks, const std::string& transport);

// Milliseconds that Open MPI takes to start so many ranks. `why` says what came instead.
std::optional<double> measure_openmpi_start(int ranks, std::string& why);

}  // namespace parley::bench::scale
