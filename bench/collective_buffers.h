#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "bench/devices/device_twins.h"
#include "bench/op.h"

namespace parley::bench {

// What one rank gives to a collective and gets from it: 32-bit floats that are small whole numbers, so that
// sums are exact in any order. Page-aligned, written before it is used, nowhere zero.
//
// A block is what one rank contributes or gets; it has the measured number of bytes. all_gather and gather
// get a block of each rank; scatter, reduce_scatter and all_to_all give one to each.
class CollectiveBuffers {
 public:
  // REQUIRES: a collective; bytes is a multiple of an element's, and zero for a barrier. Throws
  // std::runtime_error when there is no memory.
  CollectiveBuffers(Op op, std::size_t bytes, int rank, int ranks);
  // In memory of the caller's with room_for() bytes, aligned as floats are: what is given lies at its start.
  CollectiveBuffers(Op op, std::size_t bytes, int rank, int ranks, std::byte* memory);
  [[nodiscard]] static std::size_t room_for(Op op, std::size_t bytes, int ranks) noexcept;

  [[nodiscard]] Op op() const noexcept { return op_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  // Elements of a block.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::span<float> out() noexcept { return {out_, out_count_}; }
  [[nodiscard]] std::span<float> in() noexcept { return {in_, in_count_}; }

  // As Buffers::move_to() and twins().
  void move_to(RankDevice& device);
  [[nodiscard]] DeviceTwins* twins() noexcept { return twins_.get(); }

  // A call of the collective is over; `root` matters to those that have one. Whether it brought this rank
  // something.
  bool called(int root) noexcept;
  // Reads all that was got.
  void read_in() const noexcept;
  // Writes all that is given anew, with other bytes. All ranks do, or none.
  void rewrite_out();
  // Overwrites what was got, so that count_wrong() proves that another result came.
  void spoil_in();
  // How many elements are wrong in the result of the last call that brought this rank one; 0 when none has
  // since spoil_in().
  [[nodiscard]] std::size_t count_wrong();

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  using Memory = std::unique_ptr<std::byte[], Free>;
  static Memory allocate(std::size_t bytes);
  // What a call brought: its root, and whether all had written their buffers an odd number of times.
  struct Result {
    int root;
    bool negated;
  };
  [[nodiscard]] float expected(const Result& result, std::size_t index) const noexcept;

  Op op_;
  int rank_;
  int ranks_;
  std::size_t count_;
  std::size_t out_count_;
  std::size_t in_count_;
  Memory own_memory_;  // none where it is the caller's
  float* out_;
  float* in_;
  std::unique_ptr<DeviceTwins> twins_;
  bool negated_ = false;
  std::optional<Result> result_;
};

}  // namespace parley::bench
