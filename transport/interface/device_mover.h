#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "transport/interface/device_memory.h"
#include "transport/interface/mover.h"

namespace parley::transport {

// Moves memory of devices between the two ends of a link, beside it: the receiver pulls from memory that
// the sender has exposed, or the sender pushes to memory that the receiver has. A copy is begun by a call and
// is over at once: what is left of it the device does by itself, in the order of its streams. So an offer
// that was taken (withdraw() answers false) still needs its memory until the peer has told that it has begun
// the copy.
class DeviceMover : public Mover {
 public:
  // Lets the peer copy it. Nothing: this one goes by the link. A handle of 0: the peer cannot read it, but
  // may have it pushed.
  [[nodiscard]] virtual std::optional<Exposure> expose_device(DeviceMemory& memory) noexcept = 0;
  // The same of a receive's memory, so many bytes of which are to be written. Nothing: it is pulled to, or
  // its data come by the link.
  [[nodiscard]] virtual std::optional<Exposure> expose_place(DeviceMemory& memory,
                                                             std::size_t bytes) noexcept = 0;
  // The peer has told that it has begun to push so many bytes to a place; instead of note_pulled().
  virtual base::Status note_pushed(std::uint64_t handle, DeviceMemory& into, std::size_t bytes) noexcept = 0;
  // Of what one of these two has exposed, and nobody has ended.
  [[nodiscard]] virtual RemoteKey key_of(std::uint64_t handle) const noexcept = 0;
  // Copies the first `bytes` bytes of the remote memory. `ok`: begun; `cancelled`: the peer has withdrawn it;
  // `device_failed`: it was taken, and is lost; else the link can bring the data.
  virtual base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into,
                                      std::size_t bytes) noexcept = 0;
  // Whether the sender had better push what it offers by this key.
  [[nodiscard]] virtual bool leaves_copy_to_peer(const RemoteKey& key,
                                                 const DeviceMemory& into) const noexcept = 0;
  // Copies to the remote place, as pull_to_device() from the remote memory.
  virtual base::Status push_from_device(const RemoteKey& key, DeviceMemory& from,
                                        std::size_t bytes) noexcept = 0;

  // What the peer's mover has to know before it can use the keys that were made so far: sent ahead of them,
  // in order. Empty: nothing; else it stands until note_sent().
  [[nodiscard]] virtual std::span<const std::byte> next_note() noexcept = 0;
  virtual void note_sent() noexcept = 0;
  // One of the peer's. False: it is malformed.
  virtual bool take_note(std::span<const std::byte> note) noexcept = 0;

  // The peer has died or left, and its devices do nothing more that anybody shall wait for. Called before
  // anything ends because its link has closed: what ends may ask for something that waits for the device.
  virtual void release_waiters() noexcept = 0;
  // The link has closed, and no request uses the mover any more: what is the peer's is let go.
  // look_after_end() is called then, at once and from time to time, until it says that nothing of ours waits
  // any more for what the peer's devices do.
  virtual void end() noexcept = 0;
  [[nodiscard]] virtual bool look_after_end() noexcept = 0;

  // It moves no memory of the host.
  [[nodiscard]] std::optional<Exposure> expose(base::ConstMemoryRef) noexcept final { return std::nullopt; }
  base::Status pull(const RemoteKey&, base::MemoryRef, Completion&) noexcept final {
    return base::Code::unreachable;
  }
  void stop(Completion&) noexcept final {}
};

}  // namespace parley::transport
