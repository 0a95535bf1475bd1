#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// The lines and stages of all ranks, Shape::line_turns and stage_turns of each, and their marks; and of each
// step, which others have surely been before it, wherever they ran: by the order of the schedules, and by
// marks that were seen. Two steps that touch the same element, of which one writes it, race if neither is
// known to the other.
//
// Ranks lend what their schedules say may be lent, each or not as `seed` draws; all that is done with a lent
// buffer is looked at in the same way, and between two collectives its owner writes all of it.
class Boards {
 public:
  Boards(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t seed);

  // Whether it lies in a caller's buffer.
  [[nodiscard]] bool is_lent(const Slice& slice) const;
  [[nodiscard]] bool lends(std::uint32_t rank) const {
    return lenders_[rank].lends_input || lenders_[rank].lends_output;
  }
  // Whether a rank that lends may wait until this one has read; not if it has seen of all its neighbours, in
  // this collective, that they do not.
  [[nodiscard]] bool may_be_awaited(std::uint32_t rank) const;
  [[nodiscard]] std::span<Value> at(const Slice& slice);

  // What `step` of `rank` does; steps run one after another. Each "", or what is wrong.
  std::string reads(std::uint32_t rank, std::uint32_t step, const Slice& slice);
  std::string writes(std::uint32_t rank, std::uint32_t step, const Slice& slice);
  // The caller has its buffers.
  std::string between(std::uint32_t rank, std::uint32_t step);
  std::string publish(std::uint32_t rank, std::uint32_t step, std::int32_t mark);
  // Whether a rank can await that: the mark of a rank whose board it sees, of a turn in which it knows what
  // it has called itself, one of the last Shape::line_turns.
  [[nodiscard]] std::string may_await(std::uint32_t rank, std::uint32_t peer, std::int32_t mark) const;
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
  using Place = std::tuple<Space, std::uint32_t, std::uint32_t>;  // which, whose, which of those
  // Where a slice lies, and whether it matters who else touches it.
  struct Located {
    Place place;
    std::uint64_t begin = 0, count = 0;
    bool is_seen_by_others = true;
  };
  [[nodiscard]] Located located(std::uint32_t rank, const Slice& slice) const;
  // Of a line or stage.
  [[nodiscard]] Place place_of(const Slice& slice) const;
  [[nodiscard]] std::uint32_t turns_of(Space space) const;
  [[nodiscard]] Located in_buffer(std::uint32_t rank, Loan buffer, std::uint64_t begin,
                                  std::uint64_t count) const;

  [[nodiscard]] std::size_t number(std::uint32_t rank, std::uint32_t step) const {
    return first_[rank] + step;
  }
  Steps& known_to(std::uint32_t rank, std::uint32_t step);
  std::string touch(std::uint32_t rank, std::uint32_t step, const Located& what, bool writes);
  [[nodiscard]] bool has_come(std::uint32_t peer, std::int32_t mark) const;

  struct Lender {
    bool lends_input = false, lends_output = false;
  };

  const Group& group_;
  std::vector<Lender> lenders_;                     // by rank
  std::vector<std::set<std::uint32_t>> looked_at_;  // by rank: whose loans
  std::map<Place, std::vector<Value>> memory_;
  std::map<Place, std::vector<Access>> accesses_;
  std::vector<std::map<std::int32_t, Steps>> published_;  // by rank and mark
  std::vector<std::size_t> first_;                        // of each rank's steps, among all
  std::vector<Steps> known_;                              // by step
};

// A rank's schedule that works on scratch memory in place of the caller's, so many elements of it.
Schedule set_aside(Schedule schedule, std::uint64_t input_count, std::uint64_t output_count);
// Of one collective, and then of another one, or of two parts of one: as an executor runs them, the second
// after the end of the first.
enum class Joint : std::uint8_t { collectives, parts };
Schedule followed_by(const Schedule& first, const Schedule& second, Joint joint = Joint::collectives);
// The copy of nothing that stands where two collectives meet; of two parts it is another one.
bool is_between_collectives(const Step& copy);

}  // namespace parley::schedule
