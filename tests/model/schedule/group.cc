#include "tests/model/schedule/group.h"

#include <numeric>
#include <sstream>

namespace parley::schedule {
namespace {

// Blocks of 0 to 2·count elements, many of them different.
std::uint64_t uneven_count(const Case& one, std::uint64_t which) {
  return mix(which * 977 + one.size * 31 + one.count) % (2 * one.count + 1);
}

std::uint32_t host_of(const Case& one, std::uint32_t rank) {
  switch (one.placing) {
    case Placing::one_host: return 7;
    case Placing::in_turn: return rank % 3;
    // Hosts of different sizes, the last of which is often small.
    case Placing::blocks: return rank < one.size / 2 ? 5 : 1 + (rank - one.size / 2) / 4 * 2;
  }
  return 0;
}

std::string wrong(std::uint32_t rank, std::uint64_t index, const char* what) {
  std::ostringstream text;
  text << "rank " << rank << ", element " << index << ": " << what;
  return text.str();
}

bool has_blocks(Operation operation) {
  return operation == Operation::scatter || operation == Operation::gather ||
         operation == Operation::all_gather || operation == Operation::reduce_scatter;
}

}  // namespace

std::string describe(const Case& one) {
  std::ostringstream text;
  text << name(one.operation) << " by " << name(one.algorithm) << ", " << one.size << " ranks, root "
       << one.root << ", count " << one.count << (one.uneven ? " uneven" : "")
       << (one.in_place == InPlace::nobody ? "" : " in place") << ", segments of " << one.segment_count
       << ", placing " << static_cast<int>(one.placing) << ", stages of " << one.stage_count << ", lines of "
       << one.line_count << ", again after " << one.stage_turns << " and " << one.line_turns << " turns"
       << (one.everyone_lends ? ", everyone lends"
           : one.has_loans    ? ", with loans"
                              : "");
  return text.str();
}

Group::Group(const Case& one) : case_(one) {
  for (std::uint32_t rank = 0; rank < one.size; ++rank) hosts_.push_back(host_of(one, rank));
  if (one.uneven && has_blocks(one.operation))
    for (std::uint32_t rank = 0; rank < one.size; ++rank) counts_.push_back(uneven_count(one, rank));
  if (one.uneven && one.operation == Operation::all_to_all) {
    rows_.resize(one.size, std::vector<std::uint64_t>(one.size));
    columns_ = rows_;
    for (std::uint32_t from = 0; from < one.size; ++from)
      for (std::uint32_t to = 0; to < one.size; ++to)
        // In place, as much comes back as was sent.
        rows_[from][to] = columns_[to][from] =
            uneven_count(one, one.in_place != InPlace::nobody ? std::min(from, to) * 64 + std::max(from, to)
                                                              : from * 64 + to);
  }
  for (std::uint32_t rank = 0; rank < one.size; ++rank) {
    Shape shape{.rank = rank, .size = one.size, .root = one.root, .count = one.count};
    shape.counts = counts_;
    if (!rows_.empty()) {
      shape.counts = rows_[rank];
      shape.receive_counts = columns_[rank];
    }
    shape.in_place =
        one.in_place == InPlace::everybody || (one.in_place == InPlace::odd_ranks && rank % 2 == 1);
    shape.segment_count = one.segment_count;
    if (one.placing != Placing::one_host) shape.hosts = hosts_;
    shape.stage_count = one.stage_count;
    shape.line_count = one.stage_count > 0 ? one.line_count : 0;
    shape.line_turns = one.line_turns;
    shape.stage_turns = one.stage_turns;
    shape.loan_count = one.has_loans ? 1 : 0;
    shape.everyone_lends = one.everyone_lends;
    shapes_.push_back(shape);
  }
  fold_prefixes();
}

bool Group::all_fit() const {
  for (const Shape& shape : shapes_)
    if (!supports(case_.operation, case_.algorithm, shape)) return false;
  return true;
}

std::vector<Schedule> Group::schedules() const {
  std::vector<Schedule> all;
  for (const Shape& shape : shapes_) all.push_back(make(case_.operation, case_.algorithm, shape));
  return all;
}

std::uint64_t Group::pair_count(std::uint32_t from, std::uint32_t to) const {
  return rows_.empty() ? case_.count : rows_[from][to];
}

std::string Group::check(const std::vector<std::vector<Value>>& output) const {
  for (std::uint32_t rank = 0; rank < case_.size; ++rank) {
    std::string problem = check_rank(rank, output[rank]);
    if (!problem.empty()) return problem;
    if (case_.operation == Operation::all_reduce && output[rank] != output[0])
      return "rank " + std::to_string(rank) + " has other bits than rank 0";
  }
  return "";
}

std::string Group::check_rank(std::uint32_t rank, const std::vector<Value>& output) const {
  if (output.size() != output_count(case_.operation, shapes_[rank])) return "the output has another size";
  switch (case_.operation) {
    case Operation::reduce:
      return rank == case_.root ? check_reduced(rank, output, case_.size, 0) : std::string();
    case Operation::all_reduce: return check_reduced(rank, output, case_.size, 0);
    case Operation::reduce_scatter: {
      std::uint64_t offset = 0;
      for (std::uint32_t i = 0; i < rank; ++i) offset += block_count(shapes_[rank], i);
      return check_reduced(rank, output, case_.size, offset);
    }
    case Operation::scan: return check_reduced(rank, output, rank + 1, 0);
    case Operation::exscan: return rank == 0 ? std::string() : check_reduced(rank, output, rank, 0);
    default: return check_moved(rank, output);
  }
}

// The fold of ranks 0 to last-1, element `offset` first.
std::string Group::check_reduced(std::uint32_t rank, const std::vector<Value>& output, std::uint32_t last,
                                 std::uint64_t offset) const {
  const Traits promised = traits(case_.operation, case_.algorithm, shapes_[rank]);
  for (std::uint64_t i = 0; i < output.size(); ++i) {
    const Value& fold = prefixes_[last - 1][offset + i];
    if (output[i].set != fold.set) return wrong(rank, i, "not every contribution once");
    if (promised.keeps_rank_order && output[i].chain != fold.chain)
      return wrong(rank, i, "not in rank order");
    if (promised.folds_once && output[i].bits != fold.bits) return wrong(rank, i, "not a left fold");
  }
  return "";
}

void Group::fold_prefixes() {
  if (!reduces(case_.operation)) return;
  for (std::uint32_t rank = 0; rank < case_.size; ++rank) {
    prefixes_.emplace_back();
    for (std::uint64_t i = 0; i < input_count(case_.operation, shapes_[rank]); ++i) {
      const Value mine = contribution(rank, i);
      prefixes_[rank].push_back(rank == 0 ? mine : prefixes_[rank - 1][i] + mine);
    }
  }
}

std::string Group::check_moved(std::uint32_t rank, const std::vector<Value>& output) const {
  std::uint64_t at = 0;
  const auto comes = [&](std::uint32_t from, std::uint64_t begin, std::uint64_t count) -> std::string {
    for (std::uint64_t i = 0; i < count; ++i, ++at)
      if (output[at] != contribution(from, begin + i)) return wrong(rank, at, "is not what was sent");
    return "";
  };
  std::string problem;
  const auto before = [&](std::uint32_t upto) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < upto; ++i) sum += block_count(shapes_[rank], i);
    return sum;
  };
  switch (case_.operation) {
    case Operation::broadcast: return comes(case_.root, 0, case_.count);
    case Operation::scatter: return comes(case_.root, before(rank), block_count(shapes_[rank], rank));
    case Operation::gather:
    case Operation::all_gather:
      for (std::uint32_t from = 0; from < case_.size && !output.empty() && problem.empty(); ++from)
        problem = comes(from, 0, block_count(shapes_[rank], from));
      return problem;
    case Operation::all_to_all:
      for (std::uint32_t from = 0; from < case_.size && problem.empty(); ++from) {
        std::uint64_t begin = 0;
        for (std::uint32_t to = 0; to < rank; ++to) begin += pair_count(from, to);
        problem = comes(from, begin, pair_count(from, rank));
      }
      return problem;
    default: return "";
  }
}

}  // namespace parley::schedule
