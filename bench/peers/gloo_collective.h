#pragma once

#include <gloo/algorithm.h>
#include <gloo/context.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/collective_buffers.h"

namespace parley::bench {

// The measured collectives of Gloo, in its two ways. Both are Collectives of collective.h, and all ranks make
// theirs in the same order. They borrow mesh and buffers.

// Objects that are made once, over buffers that are bound to connections. They run on a busy-polling mesh as
// on an asynchronous one. all_reduce and reduce_scatter work in place, so what is given is copied first, as
// by a program that still needs it.
class GlooAlgorithms {
 public:
  [[nodiscard]] static bool offers(Op op) noexcept;
  // Whether they end on a busy-polling mesh, where two that send more to each other than the kernel holds for
  // them wait for each other.
  [[nodiscard]] static bool may_poll(Op op, std::size_t bytes, int ranks) noexcept;

  GlooAlgorithms(const std::shared_ptr<gloo::Context>& mesh, CollectiveBuffers& buffers);
  void call(int root);

 private:
  CollectiveBuffers& buffers_;
  std::vector<float> in_place_;                               // reduce_scatter
  std::vector<std::unique_ptr<gloo::Algorithm>> algorithms_;  // of a broadcast one for each root
};

// Functions with options, over buffers that are bound to nothing: what torch.distributed calls, on an
// asynchronous mesh.
class GlooFunctions {
 public:
  [[nodiscard]] static bool offers(Op op) noexcept;

  GlooFunctions(const std::shared_ptr<gloo::Context>& mesh, CollectiveBuffers& buffers);
  void call(int root) { call_(root, ++tag_); }

 private:
  std::uint32_t tag_ = 0;
  std::function<void(int root, std::uint32_t tag)> call_;
};

}  // namespace parley::bench
