#include "tools/sim/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/schedule/operation.h"
#include "tools/sim/fitting.h"
#include "tools/sim/prediction.h"

namespace parley::sim {
namespace {

// Of byte_ns, where it is not known yet: below the half nobody sees it, above the whole it is seen in
// messages that have both ends to themselves.
constexpr double unseen_core_part = 0.4;
constexpr double likely_core_part = 0.75;
constexpr int most_rounds = 4;

bool is_collective(const Row& row) {
  return schedule::find_operation(row.op).has_value();
}

// How long a message keeps its ends busy is seen where several follow each other.
bool tells_overhead(const std::vector<Row>& rows, bool is_shared) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.is_shared == is_shared && row.op != "latency" && !is_collective(row);
  });
}

// As much of the least time of a message as it was.
void guess_overhead(Tier& tier, const std::vector<Row>& rows, bool is_shared) {
  double least = std::numeric_limits<double>::infinity();
  for (const Row& row : rows)
    if (row.is_shared == is_shared && row.op == "latency") least = std::min(least, row.ns);
  if (std::isfinite(least)) tier.message_ns *= least / (tier.message_ns + tier.pieces.front().latency_ns);
}

// What messages cost whose ends do nothing else.
Numbers message_numbers(Tier& tier, bool has_overhead) {
  Numbers all;
  if (has_overhead) all.push_back(&tier.message_ns);
  for (Piece& piece : tier.pieces) {
    all.push_back(&piece.latency_ns);
    all.push_back(&piece.byte_ns);
  }
  return all;
}

// What they cost more where they come and go.
Numbers core_numbers(Tier& tier) {
  Numbers all;
  for (Piece& piece : tier.pieces) all.push_back(&piece.core_byte_ns);
  return all;
}

Numbers shared_numbers(Model& model) {
  Numbers all;
  for (SharedPiece& piece : model.shared)
    for (double* number : {&piece.mark_ns, &piece.byte_ns, &piece.fold_byte_ns}) all.push_back(number);
  return all;
}

template <typename... Parts>
Numbers joined(Numbers all, const Parts&... parts) {
  (all.insert(all.end(), parts.begin(), parts.end()), ...);
  return all;
}

void set_core_parts(Tier& tier, double part) {
  for (Piece& piece : tier.pieces) piece.core_byte_ns = part * piece.byte_ns;
}

void fit_messages(Fitting& fitting, const std::vector<Row>& rows, bool is_shared) {
  fitting.cut_messages(is_shared);
  const bool has_overhead = tells_overhead(rows, is_shared);
  if (!has_overhead) guess_overhead(fitting.tier(is_shared), rows, is_shared);
  set_core_parts(fitting.tier(is_shared), unseen_core_part);
  fitting.improve(
      [=](Model& model) { return message_numbers(is_shared ? model.near : model.far, has_overhead); },
      [is_shared](const Row& row) { return row.is_shared == is_shared && !is_collective(row); });
  set_core_parts(fitting.tier(is_shared), likely_core_part);
}

void fit_collectives(Fitting& fitting, bool is_shared) {
  const Which which = [is_shared](const Row& row) {
    return row.is_shared == is_shared && is_collective(row);
  };
  const NumbersOf numbers = [is_shared](Model& model) {
    const Numbers fold{&model.fold_byte_ns};
    return is_shared ? joined(fold, shared_numbers(model), core_numbers(model.near))
                     : joined(fold, core_numbers(model.far));
  };
  fitting.improve(numbers, which);
  if (!is_shared) return;
  fitting.cut_shared_memory();
  fitting.improve(numbers, which);
}

void fit_all(Fitting& fitting, const std::vector<Row>& rows) {
  const bool near = tells_overhead(rows, true), far = tells_overhead(rows, false);
  fitting.improve(
      [=](Model& model) {
        return joined({&model.fold_byte_ns}, shared_numbers(model), message_numbers(model.near, near),
                      core_numbers(model.near), message_numbers(model.far, far), core_numbers(model.far));
      },
      [](const Row&) { return true; });
}

void judge(Calibration& calibration) {
  std::vector<double> errors;
  for (const Calibration::Check& check : calibration.checks) errors.push_back(std::abs(check.error()));
  std::sort(errors.begin(), errors.end());
  const std::size_t middle = errors.size() / 2;
  calibration.median_error =
      errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  calibration.worst_error = errors.back();
}

}  // namespace

Calibration calibrate(const Rows& rows, const Model& start) {
  Fitting fitting(rows.rows, start);
  for (const bool is_shared : {true, false}) {
    fit_messages(fitting, rows.rows, is_shared);
    fit_collectives(fitting, is_shared);
  }
  fit_all(fitting, rows.rows);
  for (int round = 0; round < most_rounds; ++round) {
    const bool near_moved = fitting.move_borders(true), far_moved = fitting.move_borders(false);
    if (!near_moved && !far_moved) break;
    fit_all(fitting, rows.rows);
  }
  Calibration calibration{.model = fitting.model(), .left_out = rows.left_out};
  for (const Row& row : rows.rows) calibration.checks.push_back({row, predict(calibration.model, row)});
  judge(calibration);
  return calibration;
}

}  // namespace parley::sim
