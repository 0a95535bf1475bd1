#pragma once

#include <gloo/context.h>

#include <cstddef>
#include <memory>
#include <span>

#include "bench/world.h"

namespace parley::bench {

// The ranks of an asynchronous mesh of Gloo's.
class GlooWorld final : public World {
 public:
  explicit GlooWorld(std::shared_ptr<gloo::Context> mesh) : mesh_(std::move(mesh)) {}

  [[nodiscard]] int rank() const override { return mesh_->rank; }
  [[nodiscard]] int size() const override { return mesh_->size; }
  void barrier() override;
  void send_bytes(std::span<const std::byte> data, int destination) override;
  void recv_bytes(std::span<std::byte> data, int source) override;

 private:
  std::shared_ptr<gloo::Context> mesh_;
  std::uint32_t barriers_ = 0;
};

}  // namespace parley::bench
