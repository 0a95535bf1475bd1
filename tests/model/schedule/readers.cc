#include "tests/model/schedule/readers.h"

#include <cstdint>
#include <map>
#include <utility>

namespace parley::schedule {
namespace {

struct Reading {
  std::uint32_t rank = 0;
  std::uint64_t begin = 0, end = 0;
};
// By owner and turn.
using Readings = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Reading>>;

Readings readings_of(const std::vector<Schedule>& schedules) {
  Readings readings;
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    const auto note = [&](const Slice& slice) {
      if (slice.space == Space::stage && slice.owner != rank)
        readings[{slice.owner, slice.turn}].push_back({rank, slice.begin, slice.end()});
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
      if (step.from.space == Space::stage && step.from.owner != step.peer)
        return "rank " + std::to_string(rank) + " reads what another one than it says has shown";
      if (step.to.space != Space::stage) continue;
      bool is_read = false;
      const auto found = readings.find({rank, step.to.turn});
      for (const Reading& reading : found == readings.end() ? std::vector<Reading>{} : found->second) {
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
