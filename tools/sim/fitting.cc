#include "tools/sim/fitting.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>

#include "api/schedule/operation.h"
#include "tools/sim/fit.h"
#include "tools/sim/pieces.h"
#include "tools/sim/prediction.h"

namespace parley::sim {
namespace {

constexpr std::size_t most_pieces = 5;
constexpr std::size_t most_shared_pieces = 4;
constexpr double piece_tolerance = 0.06;
constexpr double least_border_gain = 1e-3;  // of the squares, for another border

std::vector<Row> chosen(const std::vector<Row>& rows, const Which& which) {
  std::vector<Row> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), which);
  return some;
}

std::vector<double> times_of(const std::vector<Row>& rows) {
  std::vector<double> times;
  for (const Row& row : rows) times.push_back(row.ns);
  return times;
}

std::vector<double> values_of(const Numbers& numbers) {
  std::vector<double> values;
  for (const double* number : numbers) values.push_back(*number);
  return values;
}

void assign(const Numbers& numbers, std::span<const double> values) {
  for (std::size_t i = 0; i < numbers.size(); ++i) *numbers[i] = values[i];
}

std::vector<double> predict_all(const Model& model, const std::vector<Row>& rows) {
  std::vector<double> times;
  for (const Row& row : rows) times.push_back(predict(model, row));
  return times;
}

Predict predictor(const Model& model, const NumbersOf& numbers, const std::vector<Row>& rows) {
  return [&model, &numbers, &rows](std::span<const double> values) {
    Model one = model;
    assign(numbers(one), values);
    return predict_all(one, rows);
  };
}

std::map<std::uint64_t, double> latencies(const std::vector<Row>& rows, bool is_shared) {
  std::map<std::uint64_t, double> times;
  for (const Row& row : rows)
    if (row.op == "latency" && row.is_shared == is_shared) times[row.bytes] = row.ns;
  return times;
}

Numbers prices_of(SharedPiece& piece) {
  return {&piece.mark_ns, &piece.byte_ns, &piece.fold_byte_ns};
}

// How well prices of shared memory explain rows, of which `a` has the slopes, by their size.
class SharedMisfit {
 public:
  SharedMisfit(Model& model, const std::vector<Row>& rows)
      : near_(values_of(prices_of(model.shared.front()))) {
    std::set<std::uint64_t> sizes;
    for (const Row& row : rows) sizes.insert(row.bytes);
    sizes_.assign(sizes.begin(), sizes.end());
    const NumbersOf numbers = [](Model& one) { return prices_of(one.shared.front()); };
    const std::vector<double> times = times_of(rows), predicted = predict_all(model, rows);
    const std::vector<double> a = slopes(predictor(model, numbers, rows), times, near_);
    parts_.resize(sizes_.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Part& part = parts_[static_cast<std::size_t>(
          std::lower_bound(sizes_.begin(), sizes_.end(), rows[row].bytes) - sizes_.begin())];
      double wanted = 1 - predicted[row] / times[row];
      for (std::size_t i = 0; i < near_.size(); ++i) {
        part.a.push_back(a[row * near_.size() + i]);
        wanted += part.a.back() * near_[i];
      }
      part.b.push_back(wanted);
    }
  }

  [[nodiscard]] const std::vector<std::uint64_t>& sizes() const noexcept { return sizes_; }

  [[nodiscard]] Misfit operator()(std::size_t begin, std::size_t end) const {
    std::vector<double> a, b;
    for (std::size_t i = begin; i < end; ++i) {
      a.insert(a.end(), parts_[i].a.begin(), parts_[i].a.end());
      b.insert(b.end(), parts_[i].b.begin(), parts_[i].b.end());
    }
    const std::vector<double> x = least_squares(a, b, near_);
    Misfit misfit;
    for (std::size_t row = 0; row < b.size(); ++row) {
      double error = -b[row];
      for (std::size_t i = 0; i < x.size(); ++i) error += a[row * x.size() + i] * x[i];
      misfit.squares += error * error;
      misfit.worst = std::max(misfit.worst, std::abs(error));
    }
    return misfit;
  }

 private:
  struct Part {
    std::vector<double> a, b;
  };
  std::vector<double> near_;
  std::vector<std::uint64_t> sizes_;
  std::vector<Part> parts_;
};

}  // namespace

double Fitting::squares_of(const Which& which) const {
  const std::vector<Row> rows = chosen(rows_, which);
  return squared_errors(predict_all(model_, rows), times_of(rows));
}

void Fitting::improve(const NumbersOf& numbers, const Which& which) {
  const std::vector<Row> rows = chosen(rows_, which);
  if (rows.empty()) return;
  const Numbers moved = numbers(model_);
  const Model here = model_;
  assign(moved, fit(predictor(here, numbers, rows), times_of(rows), values_of(moved)));
}

void Fitting::cut_messages(bool is_shared) {
  std::vector<SizeTime> curve;
  for (const auto& [bytes, ns] : latencies(rows_, is_shared)) curve.push_back({bytes, ns});
  if (curve.empty()) return;
  std::vector<Piece>& pieces = tier(is_shared).pieces;
  Piece like = pieces.front();
  pieces.clear();
  for (const std::uint64_t from : find_pieces(curve, most_pieces, piece_tolerance)) {
    like.from_bytes = from;
    pieces.push_back(like);
  }
}

void Fitting::cut_shared_memory() {
  const std::vector<Row> rows = chosen(
      rows_, [](const Row& row) { return row.is_shared && schedule::find_operation(row.op).has_value(); });
  if (rows.empty()) return;
  const SharedMisfit misfit(model_, rows);
  SharedPiece like = model_.shared.front();
  model_.shared.clear();
  for (const std::size_t begin :
       find_cuts(misfit.sizes().size(), most_shared_pieces, piece_tolerance, std::cref(misfit))) {
    like.from_bytes = begin == 0 ? 0 : misfit.sizes()[begin];
    model_.shared.push_back(like);
  }
}

bool Fitting::move_borders(bool is_shared) {
  const Which which = [is_shared](const Row& row) { return row.is_shared == is_shared; };
  const std::map<std::uint64_t, double> sizes = latencies(rows_, is_shared);
  bool has_moved = false;
  for (Piece& piece : tier(is_shared).pieces) {
    const auto first_after = sizes.lower_bound(piece.from_bytes);
    if (piece.from_bytes == 0 || first_after == sizes.begin() || first_after == sizes.end()) continue;
    const std::uint64_t last_before = std::prev(first_after)->first;
    std::uint64_t best = piece.from_bytes;
    double least = squares_of(which) * (1 - least_border_gain);
    for (std::uint64_t other = std::bit_floor(first_after->first); other > last_before; other /= 2) {
      piece.from_bytes = other;
      const double squares = squares_of(which);
      if (squares >= least) continue;
      least = squares;
      best = other;
      has_moved = true;
    }
    piece.from_bytes = best;
  }
  return has_moved;
}

}  // namespace parley::sim
