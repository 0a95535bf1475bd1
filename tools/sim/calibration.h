#pragma once

#include <string>
#include <vector>

#include "tools/sim/model.h"
#include "tools/sim/rows.h"

namespace parley::sim {

// A model that was fitted to measured rows.
struct Calibration {
  Model model;
  struct Check {
    Row row;
    double predicted_ns = 0;
    [[nodiscard]] double error() const noexcept { return predicted_ns / row.ns - 1; }
  };
  std::vector<Check> checks = {};  // one for each row
  double median_error = 0;         // of their absolute values
  double worst_error = 0;
  std::vector<std::string> left_out = {};
};

// Fits, by least squares of relative errors, what the rows depend on: of each tier that they use the
// overhead, and latency and byte of each piece; gamma; mark and bytes of shared memory. Step by step, each
// with the rows that it alone explains: messages; shared memory; what collectives make of messages; where
// pieces begin; and all together from there. What no row depends on stays as in `start`; so does the part
// that the overhead has of a message, where no row of message-rate or bandwidth tells it.
Calibration calibrate(const Rows& rows, const Model& start);

}  // namespace parley::sim
