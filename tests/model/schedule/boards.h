#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// The lines and stages of all ranks, two of each, and their marks; and of each step, which others have surely
// been before it, wherever they ran: by the order of the schedules, and by marks that were seen. Two steps
// that touch the same element, of which one writes it, race if neither is known to the other.
class Boards {
 public:
  Boards(const Group& group, const std::vector<Schedule>& schedules);

  [[nodiscard]] std::span<Value> at(const Slice& slice);

  // What `step` of `rank` does; steps run one after another. Each "", or what is wrong.
  std::string reads(std::uint32_t rank, std::uint32_t step, const Slice& slice);
  std::string writes(std::uint32_t rank, std::uint32_t step, const Slice& slice);
  std::string publish(std::uint32_t rank, std::uint32_t step, std::int32_t mark);
  // Whether it can end; then it knows what was before the marks.
  bool await(std::uint32_t rank, std::uint32_t step, std::uint32_t peer, std::int32_t mark);
  // `later` begins after the end of `earlier`.
  void order(std::uint32_t rank, std::uint32_t earlier, std::uint32_t later);

 private:
  using Steps = std::vector<std::uint64_t>;  // a bit for each
  struct Access {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t rank = 0, step = 0;
    bool writes = false;
  };
  using Place = std::tuple<Space, std::uint32_t, bool>;

  [[nodiscard]] std::size_t number(std::uint32_t rank, std::uint32_t step) const {
    return first_[rank] + step;
  }
  Steps& known_to(std::uint32_t rank, std::uint32_t step);
  std::string touch(const Slice& slice, const Access& access);
  [[nodiscard]] bool has_come(std::uint32_t peer, std::int32_t mark) const;

  std::map<Place, std::vector<Value>> memory_;
  std::map<Place, std::vector<Access>> accesses_;
  std::vector<std::map<std::int32_t, Steps>> published_;  // by rank and mark
  std::vector<std::size_t> first_;                        // of each rank's steps, among all
  std::vector<Steps> known_;                              // by step
};

// A rank's schedule that works on scratch memory in place of the caller's, so many elements of it.
Schedule set_aside(Schedule schedule, std::uint64_t input_count, std::uint64_t output_count);
// Of one collective, and then of another one: as an executor runs them, the second after the end of the
// first. Neither sends messages.
Schedule followed_by(const Schedule& first, const Schedule& second);

}  // namespace parley::schedule
