#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "transport/interface/device_memory.h"
#include "transport/interface/mover.h"

namespace parley::transport {

// Moves memory of devices between the two processes of a link, beside it. A pull is begun where it is matched
// and is over at once: what is left of it the device does by itself, in the order of its streams. So an offer
// that was taken (withdraw() answers false) still needs its memory until the peer has told that it has begun
// the pull.
class DeviceMover : public Mover {
 public:
  // Lets the peer copy it. Nothing: this one goes by the link.
  [[nodiscard]] virtual std::optional<Exposure> expose_device(DeviceMemory& memory) noexcept = 0;
  // Copies the first `bytes` bytes of the remote memory. `ok`: begun; `cancelled`: the peer has withdrawn it;
  // `device_failed`: it was taken, and is lost; else the link can bring the data.
  virtual base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into,
                                      std::size_t bytes) noexcept = 0;

  // What the peer's mover has to know before it can use the keys that were made so far: sent ahead of them,
  // in order. Empty: nothing; else it stands until note_sent().
  [[nodiscard]] virtual std::span<const std::byte> next_note() noexcept = 0;
  virtual void note_sent() noexcept = 0;
  // One of the peer's. False: it is malformed.
  virtual bool take_note(std::span<const std::byte> note) noexcept = 0;

  // The link has closed, and no request uses the mover any more: what is the peer's is let go.
  virtual void end() noexcept = 0;

  // It moves no memory of the host.
  [[nodiscard]] std::optional<Exposure> expose(base::ConstMemoryRef) noexcept final { return std::nullopt; }
  base::Status pull(const RemoteKey&, base::MemoryRef, Completion&) noexcept final {
    return base::Code::unreachable;
  }
  void stop(Completion&) noexcept final {}
};

}  // namespace parley::transport
