#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/mover.h"

namespace parley::transport {

// What the two processes of a link see of each other's memory, as it is at that moment. Beside the link's
// messages, and in no order with them but what the two agree on in that memory.
// Thread-safety: none; one thread at a time. Valid as the link is; what look() and sleep_word() give stays.
class Neighbour {
 public:
  // How far the peer has come with memory of ours.
  enum class Sight : unsigned char {
    sees,     // it finds it by its key
    asked,    // it has been told of it, and answers; to be asked again after a look at the network
    refuses,  // it never will
  };

  // What names this memory of ours, to all peers. Nothing: it is none that can be shown.
  [[nodiscard]] virtual std::optional<RemoteKey> key_of(base::ConstMemoryRef memory) const noexcept = 0;
  // Shows it to the peer. REQUIRES: it has a key.
  virtual Sight show(base::ConstMemoryRef memory) noexcept = 0;
  // The peer's memory of this key, to be read. It stays mapped as long as the result is held, also when the
  // peer has ended. Null: there is no such. Anything may stand in `key`.
  [[nodiscard]] virtual std::shared_ptr<const std::byte> look(const RemoteKey& key,
                                                              std::size_t bytes) const noexcept = 0;

  // Of any other memory, which its process may be read for where it lies, by copies that the kernel makes.
  // What names this memory of ours, of one byte at least, to all peers that may read it so. Nothing: the peer
  // may not, or the kernel cannot; it is tried.
  [[nodiscard]] virtual std::optional<RemoteKey> key_for_copies(
      base::ConstMemoryRef memory) const noexcept = 0;
  // Whether we may read the peer's at this moment; it is tried, which costs a system call.
  [[nodiscard]] virtual bool may_copy() noexcept = 0;
  // Copies from byte `offset` on of the peer's memory of such a key, as it is now. Fails with `peer_died`,
  // with `unreachable` where we may not, or with the kernel's error: EFAULT where the memory is the peer's no
  // longer.
  virtual base::Status copy(const RemoteKey& key, std::size_t offset, base::MemoryRef into) noexcept = 0;

  // Wakes the peer if it sleeps, so that it looks again at what it has seen of us. REQUIRES: a full fence
  // since that was written.
  virtual void ring_after_fence() noexcept = 0;
  // Zero while the peer does not sleep, and ring_after_fence() has nothing to do: for who has to find that
  // out with few loads. Never null. Readable as long as the result is held, also when the peer has ended;
  // whatever it holds then. REQUIRES, of each load: a full fence since what the peer shall see was written.
  [[nodiscard]] virtual std::shared_ptr<const std::atomic<std::uint32_t>> sleep_word() const noexcept = 0;

 protected:
  ~Neighbour() = default;
};

}  // namespace parley::transport
