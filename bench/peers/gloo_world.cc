#include "bench/peers/gloo_world.h"

#include <gloo/barrier.h>

namespace parley::bench {
namespace {

// Beyond those that a mesh deals out, below those of Gloo's collectives.
constexpr std::uint64_t slot = std::uint64_t{1} << 32;

}  // namespace

void GlooWorld::barrier() {
  gloo::BarrierOptions options(mesh_);
  options.setTag(++barriers_);
  gloo::barrier(options);
}

void GlooWorld::send_bytes(std::span<const std::byte> data, int destination) {
  // Gloo reads it only.
  const auto buffer = mesh_->createUnboundBuffer(const_cast<std::byte*>(data.data()), data.size());
  buffer->send(destination, slot);
  buffer->waitSend();
}

void GlooWorld::recv_bytes(std::span<std::byte> data, int source) {
  const auto buffer = mesh_->createUnboundBuffer(data.data(), data.size());
  buffer->recv(source, slot);
  buffer->waitRecv();
}

}  // namespace parley::bench
