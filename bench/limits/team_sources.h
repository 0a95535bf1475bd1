#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "bench/collective_buffers.h"
#include "bench/limits/systems.h"
#include "bench/limits/team.h"

namespace parley::bench {

// By which way a rank of a Team gets at what another one gives: the four Sources that the loops of
// collectives (team_loops.h) are written over. Each of them has
//
// * most(): elements of a block that one turn can bring; chunk: elements that look() can bring at once;
// * turn_to(): a piece of each block, `count` elements from `begin`, is what the turn is about;
// * show(): lets the others see a part of that piece, of each block that this rank gives;
// * look(), fetch(): a part of another rank's block, where it is or in scratch memory; a copy of it;
// * is_lent: what others read are the caller's own buffers, so a call ends when all have read;
// * result(), fetch_result(): where a part of this rank's sums must lie for the others, which fetch it.
//
// What a rank gives itself is read where it is. All borrow team and buffers.

// The values stand in the flag's own cache line. REQUIRES: TeamLine::most_values given, or less.
class LineSource {
 public:
  static constexpr bool is_lent = false;
  static constexpr std::size_t chunk = TeamLine::most_values;

  LineSource(Team& team, CollectiveBuffers& buffers, std::size_t /*stage_bytes*/)
      : team_(team), out_(buffers.out().data()), given_(buffers.out().size()), count_(buffers.count()) {}

  [[nodiscard]] std::size_t most() const noexcept { return chunk; }
  void turn_to(std::size_t /*begin*/, std::size_t /*count*/) noexcept {}
  void show(std::size_t /*offset*/, std::size_t /*count*/) noexcept {
    float* const values = team_.line(team_.rank()).values.data();
    for (std::size_t i = 0; i < given_; ++i) values[i] = out_[i];
  }
  const float* look(int rank, std::size_t block, std::size_t offset, std::size_t /*count*/) noexcept {
    const float* const values = rank == team_.rank() ? out_ : team_.line(rank).values.data();
    return values + block * count_ + offset;
  }
  void fetch(int rank, std::size_t block, std::size_t offset, std::size_t count, float* to) noexcept {
    const float* const from = look(rank, block, offset, count);
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }

 private:
  Team& team_;
  const float* out_;
  std::size_t given_;
  std::size_t count_;
};

// Copies in and out: whoever gives copies into its stage, and the others read there.
class StageSource {
 public:
  static constexpr bool is_lent = false;

  // Uses so many bytes of each stage: a longer message goes through them piece after piece.
  StageSource(Team& team, CollectiveBuffers& buffers, std::size_t stage_bytes)
      : team_(team),
        out_(buffers.out().data()),
        count_(buffers.count()),
        blocks_(count_ == 0 ? 1 : buffers.out().size() / count_),
        most_(stage_bytes / sizeof(float) / blocks_),
        stages_(static_cast<std::size_t>(team.ranks())) {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  void turn_to(std::size_t begin, std::size_t count) noexcept {
    begin_ = begin;
    block_ = count;
    for (int rank = 0; rank < team_.ranks(); ++rank) stages_[index(rank)] = team_.stage(rank);
  }
  void show(std::size_t offset, std::size_t count) noexcept {
    float* const stage = stages_[index(team_.rank())];
    for (std::size_t block = 0; block < blocks_; ++block) {
      // Nobody looks there for what this rank gives itself.
      if (blocks_ > 1 && block == index(team_.rank())) continue;
      std::memcpy(stage + place(block, offset), out_ + block * count_ + offset, count * sizeof(float));
    }
  }
  const float* look(int rank, std::size_t block, std::size_t offset, std::size_t /*count*/) noexcept {
    if (rank == team_.rank()) return out_ + block * count_ + offset;
    return stages_[index(rank)] + place(block, offset);
  }
  void fetch(int rank, std::size_t block, std::size_t offset, std::size_t count, float* to) noexcept {
    std::memcpy(to, look(rank, block, offset, count), count * sizeof(float));
  }
  // In the stage, in place of what this rank has not shown.
  float* result(std::size_t offset) noexcept { return stages_[index(team_.rank())] + place(0, offset); }
  void fetch_result(int rank, std::size_t offset, std::size_t count, float* to) noexcept {
    std::memcpy(to, stages_[index(rank)] + place(0, offset), count * sizeof(float));
  }
  // Of what one look brings.
  static constexpr std::size_t chunk = Team::stage_bytes / sizeof(float);

 private:
  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] std::size_t place(std::size_t block, std::size_t offset) const noexcept {
    return block * block_ + offset - begin_;
  }

  Team& team_;
  const float* out_;
  std::size_t count_;
  std::size_t blocks_;
  std::size_t most_;
  std::size_t begin_ = 0;
  std::size_t block_ = 0;
  std::vector<float*> stages_;  // of the turn, of each rank
};

// No copy that the operation itself does not need: all buffers lie in memory that all map. REQUIRES: the
// buffers' memory is the arena of this rank, on all ranks.
class MappedSource {
 public:
  static constexpr bool is_lent = true;
  static constexpr std::size_t chunk = static_cast<std::size_t>(-1);

  MappedSource(Team& team, CollectiveBuffers& buffers, std::size_t /*stage_bytes*/)
      : team_(team),
        in_(buffers.in().data()),
        in_at_(static_cast<std::size_t>(buffers.in().data() - buffers.out().data())),
        count_(buffers.count()) {}

  [[nodiscard]] std::size_t most() const noexcept { return chunk; }
  void turn_to(std::size_t /*begin*/, std::size_t /*count*/) noexcept {}
  void show(std::size_t /*offset*/, std::size_t /*count*/) noexcept {}
  const float* look(int rank, std::size_t block, std::size_t offset, std::size_t /*count*/) noexcept {
    return out_of(rank) + block * count_ + offset;
  }
  void fetch(int rank, std::size_t block, std::size_t offset, std::size_t count, float* to) noexcept {
    std::memcpy(to, look(rank, block, offset, count), count * sizeof(float));
  }
  float* result(std::size_t offset) noexcept { return in_ + offset; }
  void fetch_result(int rank, std::size_t offset, std::size_t count, float* to) noexcept {
    std::memcpy(to, out_of(rank) + in_at_ + offset, count * sizeof(float));
  }

 private:
  [[nodiscard]] const float* out_of(int rank) const noexcept {
    return reinterpret_cast<const float*>(team_.arena(rank));
  }

  Team& team_;
  float* in_;
  std::size_t in_at_;
  std::size_t count_;
};

// One copy, by the kernel, from the other process's own memory (process_vm_readv), whose address is known.
// What is to be added comes through scratch memory that stays in the cache. Errors: std::system_error when
// the kernel refuses.
class CrossMemorySource {
 public:
  static constexpr bool is_lent = true;
  static constexpr std::size_t chunk = std::size_t{32} << 10;

  CrossMemorySource(Team& team, CollectiveBuffers& buffers, std::size_t /*stage_bytes*/)
      : team_(team),
        out_(buffers.out().data()),
        in_(buffers.in().data()),
        count_(buffers.count()),
        scratch_(static_cast<std::size_t>(team.ranks()) * std::min(chunk, buffers.out().size())) {}

  [[nodiscard]] std::size_t most() const noexcept { return static_cast<std::size_t>(-1); }
  void turn_to(std::size_t /*begin*/, std::size_t /*count*/) noexcept {}
  void show(std::size_t /*offset*/, std::size_t /*count*/) noexcept {}
  const float* look(int rank, std::size_t block, std::size_t offset, std::size_t count) {
    if (rank == team_.rank()) return out_ + block * count_ + offset;
    float* const to = scratch_.data() + static_cast<std::size_t>(rank) *
                                            (scratch_.size() / static_cast<std::size_t>(team_.ranks()));
    fetch(rank, block, offset, count, to);
    return to;
  }
  void fetch(int rank, std::size_t block, std::size_t offset, std::size_t count, float* to) {
    read(rank, team_.mate(rank).out, block * count_ + offset, count, to);
  }
  float* result(std::size_t offset) noexcept { return in_ + offset; }
  void fetch_result(int rank, std::size_t offset, std::size_t count, float* to) {
    read(rank, team_.mate(rank).in, offset, count, to);
  }

 private:
  void read(int rank, std::uint64_t base, std::size_t offset, std::size_t count, float* to) const {
    read_from_process(team_.mate(rank).process, base + offset * sizeof(float),
                      reinterpret_cast<std::uint8_t*>(to), count * sizeof(float));
  }

  Team& team_;
  const float* out_;
  float* in_;
  std::size_t count_;
  std::vector<float> scratch_;  // a chunk of each rank
};

}  // namespace parley::bench
