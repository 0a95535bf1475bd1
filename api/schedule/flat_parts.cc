#include "api/schedule/flat_parts.h"

#include <algorithm>

#include "api/schedule/segments.h"

namespace parley::schedule {
namespace {

constexpr auto entered = Progress::entered;

// `stage` stands for a piece of its owner's memory, which may be lent if it is the caller's.
Slice standing_for(const Slice& stage, const Slice& piece) {
  if (piece.space == Space::input) return stage.of(Loan::input, piece.begin);
  if (piece.space == Space::output) return stage.of(Loan::output, piece.begin);
  return stage;
}

// Whether so many elements of each rank stand beside its mark.
bool is_on_line(const Builder& builder, const Shape& shape, std::uint64_t count) {
  return count <= shape.line_count && !builder.has_loans();
}

// What each rank shows at most of its stage, in a turn of `count` elements.
std::uint64_t staged(const Builder& builder, const Shape& shape, std::uint64_t count) {
  return is_on_line(builder, shape, count) ? 0 : count;
}

// What rank `owner` shows of its own, in a turn of `count` elements.
Slice shown_by(const Builder& builder, const Shape& shape, std::uint32_t owner, const Slice& piece,
               std::uint64_t count) {
  if (is_on_line(builder, shape, count)) return builder.line(owner, piece.count);
  return standing_for(builder.stage(owner, piece.count), piece);
}

// So many elements are whole cache lines, however small one is.
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t in_lines(std::uint64_t count) {
  return (count + line_bytes - 1) / line_bytes * line_bytes;
}

constexpr std::uint64_t others_of(std::uint64_t members) {
  return std::max<std::uint64_t>(members, 2) - 1;
}

std::uint64_t largest_of(std::span<const Slice> slices) {
  std::uint64_t most = 0;
  for (const Slice& slice : slices) most = std::max(most, slice.count);
  return most;
}

// What the others of the team show of their blocks, in a turn.
template <typename Shown, typename Places>
void take_of_others(Builder& builder, const Team& team, const Shown& shown, const Places& to,
                    std::uint64_t offset, std::uint64_t count) {
  for_each_other(team, [&](std::uint32_t index) {
    builder.await_mark(team.rank(index), entered);
    builder.copy(shown(index), clipped(to[index], offset, count));
  });
}

}  // namespace

Slice clipped(const Slice& block, std::uint64_t offset, std::uint64_t count) {
  const std::uint64_t begin = std::min(offset, block.count);
  return block.part(begin, std::min(count, block.count - begin));
}

std::vector<Slice> inputs_of(const Team& team, const Shape& shape) {
  std::vector<Slice> inputs;
  for (std::uint32_t index = 0; index < team.size(); ++index)
    inputs.push_back({Space::input, 0, block_count(shape, team.rank(index))});
  return inputs;
}

Parts::Parts(const Builder& builder, const Shape& shape, const Team& team, std::uint64_t largest)
    : builder_(builder),
      team_(team),
      others_(others_of(team.size())),
      on_line_(is_on_line(builder, shape, largest * others_)),
      room_(on_line_ ? largest : std::min(room_for_part(shape, team.size()), in_lines(largest))) {}

std::uint64_t Parts::part_of(std::uint64_t count) const noexcept {
  const std::uint64_t turns = segments_of(count, room_);
  return std::min(room_, in_lines((count + turns - 1) / turns));
}

Slice Parts::shown(std::uint32_t owner, std::uint32_t to, const Slice& piece) const noexcept {
  const std::uint32_t rank = team_.rank(owner);
  Slice slice =
      on_line_ ? builder_.line(rank, piece.count) : standing_for(builder_.stage(rank, piece.count), piece);
  slice.begin = (to > owner ? to - 1 : to) * room_;  // what is its own it does not show
  return slice;
}

bool fits_host(const Shape& shape) {
  return shape.hosts.empty() && shape.stage_count >= shape.size;
}

bool fits_stages(const Shape& shape) {
  return fits_host(shape) && !shape.everyone_lends;
}

std::uint32_t flat_broadcast(Builder& builder, const Shape& shape, const Team& team, const Slice& from,
                             const Slice& to, std::uint64_t segment) {
  std::uint32_t last = no_step;
  for_each_segment(from.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(staged(builder, shape, count));
    const Slice piece = from.part(offset, count);
    const Slice shown = shown_by(builder, shape, team.rank(0), piece, count);
    if (team.me() == 0) {
      builder.make_room();
      builder.copy(piece, shown);
      last = builder.publish(entered);
      return;
    }
    builder.publish(entered);
    builder.await_mark(team.rank(0), entered);
    builder.copy(shown, to.part(offset, count));
  });
  return last;
}

void flat_reduce(Builder& builder, const Shape& shape, const Team& team, std::uint32_t root,
                 const Slice& from, const Slice& to, std::uint64_t segment) {
  const bool folds = root == everyone || root == team.me();
  const std::uint32_t reader = root == everyone ? everyone : team.rank(root);
  for_each_segment(from.count, segment, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(staged(builder, shape, count));
    const Slice own = from.part(offset, count);
    const auto shown = [&](std::uint32_t index) {
      return shown_by(builder, shape, team.rank(index), own, count);
    };
    if (root != team.me()) {
      builder.make_room(reader);
      builder.copy(own, shown(team.me()), reader);
    }
    builder.publish(entered);
    if (!folds) return;
    builder.await_mark(everyone, entered);
    std::vector<Slice> operands;
    for (std::uint32_t index = 0; index < team.size(); ++index)
      operands.push_back(index == team.me() ? own : shown(index));
    builder.reduce(to.part(offset, count), operands);
  });
}

void flat_gather(Builder& builder, const Shape& shape, const Team& team, std::span<const Slice> from,
                 std::span<const Slice> to, std::uint64_t segment) {
  for_each_segment(largest_of(from), segment, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(staged(builder, shape, count));
    const auto shown = [&](std::uint32_t index) {
      return shown_by(builder, shape, team.rank(index), clipped(from[index], offset, count), count);
    };
    if (team.me() != 0) {
      builder.make_room(team.rank(0));
      builder.copy(clipped(from[team.me()], offset, count), shown(team.me()), team.rank(0));
      builder.publish(entered);
      return;
    }
    builder.publish(entered);
    take_of_others(builder, team, shown, to, offset, count);
  });
  if (team.me() == 0) builder.copy(from[0], to[0]);
}

void flat_all_gather(Builder& builder, const Shape& shape, const Team& team, std::span<const Slice> from,
                     const Blocks& to) {
  const std::uint32_t me = team.me();
  for_each_segment(largest_of(from), shape.stage_count, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(staged(builder, shape, count));
    builder.make_room();
    const auto shown = [&](std::uint32_t index) {
      return shown_by(builder, shape, team.rank(index), clipped(from[index], offset, count), count);
    };
    const Slice own = clipped(from[me], offset, count);
    builder.copy(own, shown(me));
    builder.publish(entered);
    // In the caches already, and the others' marks are under way.
    builder.copy(own, clipped(to[me], offset, count));
    take_of_others(builder, team, shown, to, offset, count);
  });
}

void flat_reduce_scatter(Builder& builder, const Shape& shape, const Team& team, const Blocks& from,
                         const Slice& to) {
  const std::uint32_t me = team.me();
  const Parts parts(builder, shape, team, from.largest());
  const std::uint64_t part = parts.part_of(from.largest());
  for_each_segment(from.largest(), part, [&](std::uint64_t offset, std::uint64_t count) {
    builder.begin_turn(parts.stage_count());
    builder.make_room();
    for_each_other(team, [&](std::uint32_t index) {
      const Slice block = clipped(from[index], offset, count);
      builder.copy(block, parts.shown(me, index, block), team.rank(index));
    });
    builder.publish(entered);
    builder.await_mark(everyone, entered);
    const Slice own = clipped(from[me], offset, count);
    std::vector<Slice> operands;
    for (std::uint32_t index = 0; index < team.size(); ++index)
      operands.push_back(index == me ? own : parts.shown(index, me, own));
    builder.reduce(clipped(to, offset, count), operands);
  });
}

Steps flat_assemble(Builder& builder, const Team& team) {
  builder.begin_turn(0);
  builder.look_back();
  builder.publish(entered);
  if (team.me() != 0) return {};
  return {builder.await_mark(everyone, entered)};
}

void flat_release(Builder& builder, const Team& team, const Steps& before) {
  builder.begin_turn(0);
  const std::uint32_t told = builder.publish(entered);
  if (team.me() != 0) {
    builder.await_mark(team.rank(0), entered);
    return;
  }
  for (const std::uint32_t earlier : before) builder.order(earlier, told);
}

std::uint64_t room_for_part(const Shape& shape, std::uint64_t members) {
  const std::uint64_t room = shape.stage_count / others_of(members);
  return room < line_bytes ? room : room / line_bytes * line_bytes;
}

// In segments of which each is made room for and awaited.
Path shared_path(std::uint64_t count, std::uint64_t segment, std::uint64_t copied) {
  return {
      .messages = 2 * segments_of(count, segment), .elements = copied, .hops = segments_of(count, segment)};
}

Path flat_broadcast_path(std::uint64_t count, std::uint64_t segment) {
  return shared_path(count, segment, count + std::min(segment, count));
}

Path flat_gather_path(std::uint64_t members, std::uint64_t largest, std::uint64_t total,
                      std::uint64_t segment) {
  Path path = shared_path(largest, segment, total + std::min(segment, largest));
  path.messages = members * path.hops;
  return path;
}

Path flat_all_gather_path(const Shape& shape, std::uint64_t members, std::uint64_t largest,
                          std::uint64_t total) {
  Path path = shared_path(largest, shape.stage_count, largest + total);
  path.messages = members * path.hops;
  return path;
}

Path flat_reduce_scatter_path(const Shape& shape, std::uint64_t members, std::uint64_t largest,
                              std::uint64_t total) {
  return shared_path(largest, room_for_part(shape, members), total);
}

}  // namespace parley::schedule
