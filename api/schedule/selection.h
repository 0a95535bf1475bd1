#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/schedule/operation.h"
#include "api/schedule/overrides.h"
#include "api/schedule/prices.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// A collective that is to be done. Of the shape, `rank`, `in_place` and `segment_count` do not matter, and of
// `counts` in all_to_all, scatter and gather only that there are any; all else is the same on all ranks.
struct Request {
  Operation operation = Operation::all_reduce;
  Shape shape = {};
  std::uint64_t element_bytes = 4;
  bool commutative = true;  // the operator, where something is folded
  bool rank_order = false;  // Determinism::rank_order: one left fold in rank order
  Surroundings surroundings = {};
};

struct Candidate {
  Algorithm algorithm = Algorithm::linear;
  std::uint64_t segment_count = 0;  // for Shape::segment_count
  double predicted_ns = 0;
};

struct Plan {
  Candidate chosen = {};
  std::optional<Candidate> runner_up = {};  // the second best that could have been chosen
  bool asked_for = false;                   // by an override
  bool measured = false;                    // by the tuning table
  bool for_one_device = false;              // because all memory is on one
  std::optional<Algorithm> refused = {};    // an override that cannot do this
  std::optional<Algorithm> unfit = {};      // the tuning table's, which cannot do this
};

// The algorithms that are right for the request, with the segments that suit them best, the one of the least
// predicted time first.
std::vector<Candidate> candidates_for(const Request& request);

// Among the algorithms that are right for the request the one that was asked for; else that of the tuning
// table, which knows groups of one host and even counts; else the one of the least predicted time. A pure
// function: the same plan on every rank and in every run, whatever was measured meanwhile. Every request has
// a plan. Cost: some microseconds, O(ranks) with several hosts; callers keep the plan.
Plan select(const Request& request, const Overrides& overrides);

// The plan in words, one or two sentences.
std::string explain(const Request& request, const Plan& plan);

}  // namespace parley::schedule
