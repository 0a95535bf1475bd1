#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "bench/collective_buffers.h"
#include "bench/limits/fold.h"
#include "bench/limits/team.h"
#include "bench/limits/team_sources.h"

namespace parley::bench {

// The raw loops of collectives over shared memory; each is a Collective of collective.h. They do no more than
// the operation needs, add in the order of ranks, and end with the result in memory of the rank's own. After
// a call each rank may write all its buffers.

// Everyone takes what it wants: each shows what it gives, and all read that from all, in one turn for each
// piece. all_reduce: each adds all vectors itself. Any operation.
template <typename Source>
class FlatLoop {
 public:
  FlatLoop(Team& team, CollectiveBuffers& buffers, std::size_t stage_bytes)
      : team_(team),
        source_(team, buffers, stage_bytes),
        op_(buffers.op()),
        count_(buffers.count()),
        out_(buffers.out().data()),
        in_(buffers.in().data()),
        from_(static_cast<std::size_t>(team.ranks())) {}

  void call(int root) {
    std::size_t done = 0;
    do {
      const std::size_t count = std::min(source_.most(), count_ - done);
      take_turn(root, done, count);
      done += count;
    } while (done < count_);
    if (!Source::is_lent) return;
    team_.begin();
    team_.tell();
    if (gives(root)) team_.await_all();
  }

 private:
  void take_turn(int root, std::size_t begin, std::size_t count) {
    team_.begin();
    source_.turn_to(begin, count);
    if (gives(root)) {
      if (has_root(op_) && !Source::is_lent) team_.await_room();
      source_.show(begin, count);
    }
    team_.tell();
    take(root, begin, count);
  }

  // Whether others read something of this rank.
  [[nodiscard]] bool gives(int root) const noexcept {
    if (op_ == Op::broadcast || op_ == Op::scatter) return team_.rank() == root;
    if (op_ == Op::reduce || op_ == Op::gather) return team_.rank() != root;
    return op_ != Op::barrier;
  }

  void take(int root, std::size_t begin, std::size_t count) {
    const int rank = team_.rank();
    switch (op_) {
      case Op::broadcast:
        if (rank != root) take_of(root, 0, begin, count, in_ + begin);
        break;
      case Op::scatter: take_of(root, static_cast<std::size_t>(rank), begin, count, in_ + begin); break;
      case Op::gather:
        if (rank == root) take_of_each(0, begin, count);
        break;
      case Op::all_gather: take_of_each(0, begin, count); break;
      case Op::all_to_all: take_of_each(static_cast<std::size_t>(rank), begin, count); break;
      case Op::reduce:
        if (rank == root) add(0, begin, count);
        break;
      case Op::all_reduce: add(0, begin, count); break;
      case Op::reduce_scatter: add(static_cast<std::size_t>(rank), begin, count); break;
      default: team_.await_all();
    }
  }

  void take_of(int rank, std::size_t block, std::size_t begin, std::size_t count, float* to) {
    if (rank == team_.rank()) {
      const bool has_blocks = op_ == Op::scatter || op_ == Op::all_to_all;
      std::memcpy(to, out_ + (has_blocks ? block * count_ : 0) + begin, count * sizeof(float));
      return;
    }
    team_.await(rank);
    source_.fetch(rank, block, begin, count, to);
  }

  // The next rank first, so that not all read from one.
  void take_of_each(std::size_t block, std::size_t begin, std::size_t count) {
    for (int i = 1; i <= team_.ranks(); ++i) {
      const int rank = (team_.rank() + i) % team_.ranks();
      take_of(rank, block, begin, count, in_ + static_cast<std::size_t>(rank) * count_ + begin);
    }
  }

  void add(std::size_t block, std::size_t begin, std::size_t count) {
    team_.await_all();
    const std::size_t chunk = Source::chunk;
    for (std::size_t done = 0; done < count;) {
      const std::size_t part = std::min(chunk, count - done);
      for (int rank = 0; rank < team_.ranks(); ++rank)
        from_[static_cast<std::size_t>(rank)] = source_.look(rank, block, begin + done, part);
      fold(in_ + begin + done, from_, part);
      done += part;
    }
  }

  Team& team_;
  Source source_;
  Op op_;
  std::size_t count_;
  const float* out_;
  float* in_;
  std::vector<const float*> from_;  // what is added, of each rank
};

// all_reduce: each adds one slice, of all vectors, and then all read the sums of all: two turns for each
// piece.
template <typename Source>
class SliceLoop {
 public:
  SliceLoop(Team& team, CollectiveBuffers& buffers, std::size_t stage_bytes)
      : team_(team),
        source_(team, buffers, stage_bytes),
        count_(buffers.count()),
        in_(buffers.in().data()),
        from_(static_cast<std::size_t>(team.ranks())) {}

  void call(int /*root*/) {
    for (std::size_t done = 0; done < count_;) {
      const std::size_t count = std::min(source_.most(), count_ - done);
      sum_up(done, count);
      done += count;
    }
    if (Source::is_lent) team_.meet();
  }

 private:
  struct Slice {
    std::size_t begin;
    std::size_t end;
  };
  // Whole cache lines, as evenly as that goes.
  [[nodiscard]] Slice slice_of(int rank, std::size_t begin, std::size_t count) const noexcept {
    constexpr std::size_t line = 16;
    const auto ranks = static_cast<std::size_t>(team_.ranks());
    const std::size_t length = (count / ranks + line - 1) / line * line;
    const auto place = static_cast<std::size_t>(rank);
    const bool is_last = place + 1 == ranks;
    return {begin + std::min(count, place * length),
            begin + (is_last ? count : std::min(count, (place + 1) * length))};
  }

  void sum_up(std::size_t begin, std::size_t count) {
    const Slice own = slice_of(team_.rank(), begin, count);
    team_.begin();
    source_.turn_to(begin, count);
    source_.show(begin, own.begin - begin);
    source_.show(own.end, begin + count - own.end);
    team_.tell();
    team_.await_all();
    add(own);
    team_.begin();
    team_.tell();
    for (int i = 0; i < team_.ranks(); ++i) {
      const int rank = (team_.rank() + i) % team_.ranks();
      const Slice slice = slice_of(rank, begin, count);
      if (rank != team_.rank()) {
        team_.await(rank);
        source_.fetch_result(rank, slice.begin, slice.end - slice.begin, in_ + slice.begin);
      } else if (!Source::is_lent) {
        source_.fetch_result(rank, slice.begin, slice.end - slice.begin, in_ + slice.begin);
      }
    }
  }

  void add(const Slice& slice) {
    const std::size_t chunk = Source::chunk;
    for (std::size_t begin = slice.begin; begin < slice.end;) {
      const std::size_t part = std::min(chunk, slice.end - begin);
      for (int rank = 0; rank < team_.ranks(); ++rank)
        from_[static_cast<std::size_t>(rank)] = source_.look(rank, 0, begin, part);
      fold(source_.result(begin), from_, part);
      begin += part;
    }
  }

  Team& team_;
  Source source_;
  std::size_t count_;
  float* in_;
  std::vector<const float*> from_;  // what is added, of each rank
};

}  // namespace parley::bench
