#include "tools/sim/program.h"

#include <unordered_map>

namespace parley::sim {
namespace {

using schedule::Loan;
using schedule::Slice;
using schedule::StepKind;

class Compiler {
 public:
  Compiler(const schedule::Schedule& schedule, std::uint32_t rank, const Pricing& pricing)
      : schedule_(schedule), rank_(rank), pricing_(pricing) {}

  Program compile() {
    program_.steps.reserve(schedule_.steps.size());
    for (const schedule::Step& step : schedule_.steps) program_.steps.push_back(compiled(step));
    program_.successors = schedule_.successors;
    return std::move(program_);
  }

 private:
  using Lanes = std::unordered_map<std::uint32_t, std::uint32_t>;

  static std::uint32_t lane(Lanes& lanes, std::vector<std::uint32_t>& peers, std::uint32_t peer) {
    const auto [found, is_new] = lanes.try_emplace(peer, static_cast<std::uint32_t>(peers.size()));
    if (is_new) peers.push_back(peer);
    return found->second;
  }

  [[nodiscard]] double bytes(std::uint64_t count) const {
    return static_cast<double>(count * pricing_.element_bytes);
  }

  [[nodiscard]] bool is_own_loan(const Slice& slice) const {
    if (!pricing_.lends || slice.owner != rank_) return false;
    return (slice.loan == Loan::input && schedule_.may_lend_input) ||
           (slice.loan == Loan::output && schedule_.may_lend_output);
  }

  [[nodiscard]] double copy_ns(const Slice& from, const Slice& to) const {
    if (is_own_loan(from) || is_own_loan(to)) return 0;
    const bool is_seen = is_shared(from.space) || is_shared(to.space);
    return pricing_.model.step_ns +
           bytes(to.count) * (is_seen ? pricing_.shared.byte_ns : pricing_.model.copy_byte_ns);
  }

  // What others show is read on the way.
  [[nodiscard]] double reduce_ns(const schedule::Step& step) const {
    const double byte_ns = schedule_.turns == 0 ? pricing_.model.fold_byte_ns : pricing_.shared.fold_byte_ns;
    return pricing_.model.step_ns +
           bytes(step.to.count) * static_cast<double>(step.operand_count - 1) * byte_ns;
  }

  Program::Step compiled(const schedule::Step& step) {
    Program::Step made{.blockers = step.blockers,
                       .next_in_lane = step.next_in_lane,
                       .first_successor = step.first_successor,
                       .last_successor = step.first_successor + step.successor_count};
    // Where nothing is lent nobody tells of its end; and who has lent nothing does not wait for it. Both are
    // steps of no time.
    switch (step.kind) {
      case StepKind::send:
        made.kind = Program::Kind::send;
        made.with = lane(sends_, program_.sends_to, step.peer);
        made.amount = bytes(step.from.count);
        break;
      case StepKind::receive:
        made.kind = Program::Kind::receive;
        made.with = lane(receives_, program_.receives_from, step.peer);
        break;
      case StepKind::copy: made.amount = copy_ns(step.from, step.to); break;
      case StepKind::reduce: made.amount = reduce_ns(step); break;
      case StepKind::publish:
        if (step.for_lenders && !pricing_.lends) break;
        made.kind = Program::Kind::publish;
        made.amount = step.mark;
        break;
      case StepKind::await:
        if (step.for_lenders && !(pricing_.lends && (schedule_.may_lend_input || schedule_.may_lend_output)))
          break;
        made.kind = Program::Kind::await;
        made.amount = step.mark;
        made.with = step.peer;
        break;
    }
    return made;
  }

  const schedule::Schedule& schedule_;
  std::uint32_t rank_;
  const Pricing& pricing_;
  Program program_;
  Lanes sends_, receives_;
};

}  // namespace

Program compile(const schedule::Schedule& schedule, std::uint32_t rank, const Pricing& pricing) {
  return Compiler(schedule, rank, pricing).compile();
}

}  // namespace parley::sim
