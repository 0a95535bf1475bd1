#include "tests/model/schedule/readers.h"

#include <cstdint>
#include <map>
#include <tuple>

namespace parley::schedule {
namespace {

struct Reading {
  std::uint32_t rank = 0;
  std::uint64_t begin = 0, end = 0;
};
// By the line or stage that is read: whose, and in which turn.
using Shown = std::tuple<Space, std::uint32_t, std::uint32_t>;
using Readings = std::map<Shown, std::vector<Reading>>;

Readings readings_of(const std::vector<Schedule>& schedules) {
  Readings readings;
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    const auto note = [&](const Slice& slice) {
      if (is_shared(slice.space) && slice.owner != rank)
        readings[{slice.space, slice.owner, slice.turn}].push_back({rank, slice.begin, slice.end()});
    };
    for (const Step& step : schedules[rank].steps)
      if (step.kind == StepKind::copy) note(step.from);
    for (const Slice& operand : schedules[rank].operands) note(operand);
  }
  return readings;
}

}  // namespace

std::string check_readers(const std::vector<Schedule>& schedules) {
  const Readings readings = readings_of(schedules);
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank)
    for (const Step& step : schedules[rank].steps) {
      if (step.kind != StepKind::copy || step.peer == everyone) continue;
      if (is_shared(step.from.space) && step.from.owner != step.peer)
        return "rank " + std::to_string(rank) + " reads what another one than it says has shown";
      if (!is_shared(step.to.space)) continue;
      bool is_read = false;
      const auto found = readings.find({step.to.space, rank, step.to.turn});
      if (found == readings.end()) return "nobody reads what rank " + std::to_string(rank) + " shows";
      for (const Reading& reading : found->second) {
        if (reading.end <= step.to.begin || step.to.end() <= reading.begin) continue;
        is_read = true;
        if (reading.rank != step.peer)
          return "rank " + std::to_string(reading.rank) + " reads what is for rank " +
                 std::to_string(step.peer);
      }
      if (!is_read) return "nobody reads what rank " + std::to_string(rank) + " shows one other rank";
    }
  return "";
}

}  // namespace parley::schedule
