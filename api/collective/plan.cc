#include "api/collective/plan.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "api/schedule/catalogue.h"

namespace parley::collective {

namespace {
// So few bytes are written as fast where their readers' caches still hold them: see README.md.
constexpr std::uint64_t most_bytes_in_one_place = 4096;

// Elements of the buffers that the callers on our host give to a call, together, as far as this rank knows:
// where counts are uneven, those of the others may be like its own (all_to_all), or none (scatter, gather).
std::uint64_t count_on_host(schedule::Operation operation, schedule::Shape shape, const Team& team) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint32_t rank) {
    shape.rank = rank;
    const std::uint64_t given = schedule::input_count(operation, shape);
    const std::uint64_t got = schedule::output_count(operation, shape);
    sum += shape.in_place ? std::max(given, got) : given + got;
  };
  add(team.rank);
  for (const std::uint32_t rank : team.neighbours) add(rank);
  return sum;
}

// By which algorithm it shall be done where everyone lends, if it is worth it to ask first who does. A
// function of what all ranks know.
std::optional<schedule::Algorithm> algorithm_if_lent(const schedule::Request& request,
                                                     const schedule::Plan& choice) {
  using schedule::Algorithm;
  using schedule::Operation;
  const bool may_lend = request.shape.loan_count != 0 && request.shape.hosts.empty();
  const std::uint64_t bytes = request.shape.count * request.element_bytes;
  const std::uint32_t others = request.shape.size - 1;
  const bool has_own_cores = request.surroundings.ranks_per_core <= 1;
  const bool is_flat = choice.chosen.algorithm == Algorithm::flat;
  // By stages in several turns, of what is lent in one; for more than two ranks both are as fast.
  const bool is_in_slices_of_two = choice.chosen.algorithm == Algorithm::slices && others == 1;
  if (!may_lend || !(is_flat || is_in_slices_of_two)) return std::nullopt;
  switch (request.operation) {
    // Who folds all there is of what is shown folds less of what is lent, and in one piece.
    case Operation::all_reduce:
      if (choice.asked_for || !has_own_cores || bytes < PlanCache::least_roll_call_bytes) return std::nullopt;
      return Algorithm::slices;
    // What is shown is written once and read once, one after the other. Where several read it, or while it is
    // written, stages are as fast.
    case Operation::all_gather:
      if (!has_own_cores || others > 1 || bytes < PlanCache::least_moved_bytes) return std::nullopt;
      return Algorithm::flat;
    case Operation::all_to_all:
      if (bytes < PlanCache::least_moved_bytes) return std::nullopt;
      return Algorithm::flat;
    case Operation::scatter:
      if (others * bytes < PlanCache::least_scattered_bytes) return std::nullopt;
      return Algorithm::flat;
    default: return std::nullopt;
  }
}
// Of what everyone lends, ordinary memory. Likewise.
bool may_be_copied(const schedule::Request& request) {
  return !schedule::reduces(request.operation) ||
         request.shape.count * request.element_bytes >= PlanCache::least_copied_bytes;
}
}  // namespace

[[gnu::hot]] bool PlanCache::Entry::answers(const Question& asked) const noexcept {
  return question.operation == asked.operation && question.count == asked.count &&
         question.root == asked.root && question.element_bytes == asked.element_bytes &&
         question.in_place == asked.in_place && question.commutative == asked.commutative &&
         question.rank_order == asked.rank_order && question.on_host == asked.on_host &&
         question.on_one_device == asked.on_one_device &&
         std::equal(counts.begin(), counts.end(), asked.counts.begin(), asked.counts.end()) &&
         std::equal(receive_counts.begin(), receive_counts.end(), asked.receive_counts.begin(),
                    asked.receive_counts.end());
}

// Where all wait for all there is no running ahead, nor where one call takes most of the stages. What a root
// scatters takes longer in pieces of small stages than in those of large ones.
StageSet PlanCache::stage_set_of(const Question& question) const noexcept {
  const bool has_any = room_.ahead.bytes != 0;
  if (!has_any || !schedule::has_root(question.operation)) return StageSet::usual;
  const std::uint64_t bytes = question.count * question.element_bytes;
  const bool fits = question.operation == schedule::Operation::scatter
                        ? (team_.processes.size() - 1) * bytes <= room_.ahead.bytes
                        : bytes <= room_.ahead.all_bytes() / 2;
  return fits ? StageSet::ahead : StageSet::usual;
}

schedule::Request PlanCache::request_of(const Question& question) const {
  schedule::Request request;
  request.operation = question.operation;
  request.shape = {.rank = team_.rank,
                   .size = static_cast<std::uint32_t>(team_.processes.size()),
                   .root = question.root,
                   .count = question.count,
                   .counts = question.counts,
                   .receive_counts = question.receive_counts,
                   .in_place = question.in_place,
                   .segment_count = 0,
                   .hosts = team_.hosts};
  if (question.on_host) {
    request.shape.line_count = room_.line_bytes / question.element_bytes;
    const SharedRoom::Stages& stages = room_.of(stage_set_of(question));
    request.shape.stage_count = stages.bytes / question.element_bytes;
    request.shape.line_turns = room_.line_turns;
    request.shape.stage_turns = stages.turns;
    request.shape.loan_count = stages.bytes == 0 ? 0 : least_loan_bytes / question.element_bytes;
  }
  request.element_bytes = question.element_bytes;
  request.commutative = question.commutative;
  request.rank_order = question.rank_order;
  request.surroundings = team_.surroundings;
  request.surroundings.is_one_device = question.on_one_device;
  return request;
}

std::unique_ptr<Plan> plan_of(schedule::Schedule schedule, std::size_t ranks, std::uint32_t element_bytes) {
  auto made = std::make_unique<Plan>();
  Plan& plan = *made;
  plan.schedule = std::move(schedule);
  const std::vector<schedule::Step>& steps = plan.schedule.steps;
  plan.sends_to_us.resize(ranks);
  plan.step_count = steps.size();
  plan.start.memory.resize(3 * steps.size());
  std::uint32_t* const blockers = plan.start.memory.data();
  std::uint32_t* const transfers = blockers + steps.size();
  std::uint32_t* const local = transfers + steps.size();
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const schedule::Step& step = steps[i];
    plan.most_operands = std::max<std::size_t>(plan.most_operands, step.operand_count);
    if (step.kind == schedule::StepKind::receive) plan.sends_to_us[step.peer] = true;
    if (step.kind == schedule::StepKind::copy) plan.local_count += step.to.count;
    if (step.kind == schedule::StepKind::reduce) plan.local_count += step.to.count * (step.operand_count - 1);
    blockers[i] = step.blockers;
    if (step.blockers != 0) continue;
    if (schedule::is_local(step))
      local[plan.start.local++] = i;
    else
      transfers[plan.start.transfers++] = i;
  }
  std::reverse(transfers, transfers + plan.start.transfers);
  const bool has_messages = std::any_of(steps.begin(), steps.end(), schedule::is_transfer);
  const std::uint64_t stage_bytes = plan.schedule.stage_count * element_bytes;
  if (stage_bytes > most_bytes_in_one_place) plan.stage_bytes = std::bit_ceil(stage_bytes);
  plan.has_large_steps = plan.schedule.has_loans || plan.stage_bytes != 0;
  plan.passes_loans_on = plan.schedule.has_loans && has_messages;
  plan.is_straight = !has_messages && plan.schedule.turns != 0 && plan.schedule.scratch_count == 0 &&
                     plan.local_count * element_bytes <= Plan::most_straight_bytes;
  return made;
}

const PlanHandle& PlanCache::look_further(const Question& question) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.answers(question); });
  if (found == entries_.end()) {
    Entry made = answer(question);
    if (entries_.size() < most_plans)
      found = entries_.insert(found, std::move(made));
    else
      *(found = least_recent()) = std::move(made);
  }
  recent_[place_of(question)] = static_cast<std::uint8_t>(found - entries_.begin());
  return use(*found);
}

std::vector<PlanCache::Entry>::iterator PlanCache::least_recent() noexcept {
  return std::min_element(entries_.begin(), entries_.end(),
                          [](const Entry& one, const Entry& other) { return one.used_at < other.used_at; });
}

PlanCache::Entry PlanCache::answer(const Question& question) const {
  schedule::Request request = request_of(question);
  const schedule::Plan choice = schedule::select(request, overrides_);
  request.shape.segment_count = choice.chosen.segment_count;
  const StageSet stage_set = stage_set_of(question);
  // Buffers of that size leave the caches as they come, with what else is in them, and each line of a result
  // was brought there for nothing. Half of the caches is for stages, for what callers read next, and for
  // others.
  const bool fills_caches =
      request.shape.stage_count != 0 && count_on_host(question.operation, request.shape, team_) >=
                                            team_.cache_bytes / 2 / question.element_bytes;
  const auto plan_by = [&](schedule::Operation operation, schedule::Algorithm algorithm) {
    auto made = plan_of(schedule::make(operation, algorithm, request.shape), team_.processes.size(),
                        question.element_bytes);
    made->stage_set = stage_set;
    // By messages what has landed is sent on.
    made->lands_past_caches = fills_caches && made->schedule.turns != 0;
    return made;
  };
  auto plan = plan_by(question.operation, choice.chosen.algorithm);
  plan->choice = choice;
  if (const auto algorithm = algorithm_if_lent(request, choice)) {
    plan->roll_call = plan_by(schedule::Operation::barrier, schedule::Algorithm::flat);
    plan->is_straight = false;
    plan->may_be_copied = may_be_copied(request);
    request.shape.everyone_lends = true;
    if (schedule::supports(question.operation, *algorithm, request.shape))
      plan->if_lent = plan_by(question.operation, *algorithm);
  }
  Entry entry{question,
              {question.counts.begin(), question.counts.end()},
              {question.receive_counts.begin(), question.receive_counts.end()},
              PlanHandle(std::move(plan))};
  entry.question.counts = entry.question.receive_counts = {};
  return entry;
}

std::string PlanCache::explain(const Question& question) const {
  const schedule::Request request = request_of(question);
  const schedule::Plan choice = schedule::select(request, overrides_);
  std::string text = schedule::explain(request, choice);
  const auto algorithm = algorithm_if_lent(request, choice);
  if (!algorithm) return text;
  text += *algorithm == choice.chosen.algorithm
              ? "; in one piece where all "
              : "; " + std::string(schedule::name(*algorithm)) + " where all ";
  text += schedule::reduces(question.operation) ? "buffers" : "inputs";
  text += " are shared tensors";
  if (may_be_copied(request))
    text += ", or where that is faster and every rank may copy them out of the others' processes";
  return text;
}

}  // namespace parley::collective
