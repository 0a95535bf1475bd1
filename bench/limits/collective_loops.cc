#include "bench/limits/collective_loops.h"

#include <array>
#include <utility>

#include "bench/limits/team_loops.h"
#include "bench/limits/team_setup.h"
#include "bench/limits/team_sources.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

using Way = CollectiveLoop::Way;

// With more ranks than cores fewer and larger pieces win, else those that stay in the second-level cache.
constexpr std::array<std::size_t, 3> stages_bytes = {64 << 10, 256 << 10, 1 << 20};

// Where everyone adds everything.
constexpr std::size_t most_flat_sum_bytes = 512 << 10;
// In whose time it shows how a rank waits.
constexpr std::size_t most_looked_for_bytes = 64 << 10;
// What is worth dividing, and a call of the kernel.
constexpr std::size_t least_sliced_bytes = 1 << 10;
constexpr std::size_t least_cross_memory_bytes = 4 << 10;

constexpr std::string_view raw_prefix = "raw ";
constexpr std::string_view arena_prefix = "raw mapped";

std::size_t given_bytes(Op op, std::size_t bytes, int ranks) noexcept {
  const bool gives_to_each = op == Op::scatter || op == Op::reduce_scatter || op == Op::all_to_all;
  return gives_to_each ? bytes * static_cast<std::size_t>(ranks) : bytes;
}

// Stages that a message fills, and the smallest.
void add_staged(std::vector<CollectiveLoop>& loops, bool in_slices, std::size_t given) {
  std::size_t smaller = 0;
  for (const std::size_t stage : stages_bytes) {
    if (given > smaller) loops.push_back({Way::staged, in_slices, stage});
    smaller = stage;
  }
}

bool is_raw(const Row& row) noexcept {
  return row.system.starts_with(raw_prefix);
}

bool is_in_arena(const Row& row) noexcept {
  return row.system.starts_with(arena_prefix) || row.system == parley_in_arena;
}

// The place of the best loop; rows.size() if there is none.
std::size_t best_of(std::span<const Row> rows, bool with_arena) {
  std::size_t best = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_raw(rows[i]) || rows[i].wrong.value_or(0) > 0) continue;
    if (!with_arena && is_in_arena(rows[i])) continue;
    if (best == rows.size() || rows[i].median_us < rows[best].median_us) best = i;
  }
  return best;
}

}  // namespace

std::string CollectiveLoop::name() const {
  constexpr std::array<std::string_view, 4> ways = {"line", "staged", "cross-memory", "mapped"};
  std::string text(ways[static_cast<std::size_t>(way)]);
  if (in_slices) text += "-slices";
  if (way == Way::staged) text += "-" + format_size(stage_bytes);
  return text;
}

std::vector<CollectiveLoop> collective_loops_for(Op op, std::size_t bytes, int ranks, bool cross_memory) {
  const std::size_t given = given_bytes(op, bytes, ranks);
  std::vector<CollectiveLoop> loops;
  if (given <= TeamLine::most_values * sizeof(float)) loops.push_back({Way::line});
  if (op == Op::barrier) return loops;
  const bool in_slices = op == Op::all_reduce && bytes >= least_sliced_bytes;
  const bool by_kernel = cross_memory && bytes >= least_cross_memory_bytes;
  if (op != Op::all_reduce || bytes <= most_flat_sum_bytes) add_staged(loops, false, given);
  if (in_slices) add_staged(loops, true, given);
  if (by_kernel) loops.push_back({Way::cross_memory});
  if (by_kernel && in_slices) loops.push_back({Way::cross_memory, true});
  loops.push_back({Way::mapped});
  if (in_slices) loops.push_back({Way::mapped, true});
  return loops;
}

CollectiveLimits::CollectiveLimits(World& world, const Stage& stage, CollectiveBuffers& buffers,
                                   std::size_t bytes)
    : stage_(stage), buffers_(buffers) {
  const std::size_t arena_bytes = CollectiveBuffers::room_for(stage.op, bytes, world.size());
  if (Team::memory_bytes(arena_bytes, world.size()) > most_shared_bytes) return;
  TeamSetup setup = open_team(world, buffers, arena_bytes, stage.link, stage.idle);
  team_ = std::move(setup.team);
  arena_buffers_.emplace(stage.op, bytes, world.rank(), world.size(), team_->arena(world.rank()));
  loops_ = collective_loops_for(stage.op, bytes, world.size(), setup.refusal == 0);
}

template <typename Loop>
Contender CollectiveLimits::make(const CollectiveLoop& loop, const std::string& name) {
  CollectiveBuffers& buffers = loop.way == Way::mapped ? *arena_buffers_ : buffers_;
  Contender contender =
      make_collective_contender<Loop>(name, stage_, buffers, *team_, buffers, std::size_t{loop.stage_bytes});
  contender.buffers = &buffers;
  return contender;
}

Contender CollectiveLimits::make(const CollectiveLoop& loop, const std::string& name) {
  switch (loop.way) {
    case Way::line: return make<FlatLoop<LineSource>>(loop, name);
    case Way::staged:
      return loop.in_slices ? make<SliceLoop<StageSource>>(loop, name)
                            : make<FlatLoop<StageSource>>(loop, name);
    case Way::cross_memory:
      return loop.in_slices ? make<SliceLoop<CrossMemorySource>>(loop, name)
                            : make<FlatLoop<CrossMemorySource>>(loop, name);
    case Way::mapped: break;
  }
  return loop.in_slices ? make<SliceLoop<MappedSource>>(loop, name)
                        : make<FlatLoop<MappedSource>>(loop, name);
}

std::vector<Contender> CollectiveLimits::contenders() {
  std::vector<Contender> all;
  const auto add = [&](const CollectiveLoop& loop, Idle idle, std::string_view suffix) {
    Contender contender = make(loop, std::string(raw_prefix) + loop.name() + std::string(suffix));
    contender.try_out = [this, idle, plain = contender.try_out](int count) {
      team_->set_idle(idle);
      return plain(count);
    };
    contender.phase = [this, idle, plain = contender.phase](const Plan& plan) {
      team_->set_idle(idle);
      return plain(plan);
    };
    all.push_back(std::move(contender));
  };
  const bool looks = stage_.idle != Idle::spin && buffers_.count() * sizeof(float) <= most_looked_for_bytes;
  for (const CollectiveLoop& loop : loops_) {
    add(loop, stage_.idle, "");
    // Which way of giving the core away is the faster one depends on where the scheduler has put the ranks.
    if (looks) add(loop, Idle::look, "+look");
  }
  return all;
}

void compare_with_best_loop(std::span<Row> rows) {
  const std::size_t anywhere = best_of(rows, false);
  const std::size_t with_arena = best_of(rows, true);
  if (anywhere == rows.size()) return;
  const std::array<Row, 2> best{rows[anywhere], rows[with_arena]};
  for (Row& row : rows) compare_with_limit(row, best[is_in_arena(row) ? 1 : 0]);
}

}  // namespace parley::bench
