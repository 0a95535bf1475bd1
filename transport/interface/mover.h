#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/base/copy_meter.h"
#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/completion.h"

namespace parley::transport {

// Describes memory of one process to a mover in another; travels as the payload of an offer. Short enough for
// one cell of a shared-memory ring.
struct RemoteKey {
  std::array<std::byte, 24> bytes{};
  friend bool operator==(const RemoteKey&, const RemoteKey&) = default;
};

// Memory that a mover lets its peer read.
struct Exposure {
  RemoteKey key;
  std::uint64_t handle = 0;  // for withdraw() or note_pulled(); 0: neither is wanted
};

// Moves large data by itself, beside the ordered link that announced it.
// Thread-safety: none; one thread at a time.
class Mover {
 public:
  virtual ~Mover() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  // For people: "cma", or why it moves nothing.
  [[nodiscard]] virtual std::string describe() const = 0;

  // Lets the peer's mover of the same name read `memory`, which stays valid and unchanged until the peer has
  // said that it is done, or withdraw(). Nothing: this one goes by the link.
  [[nodiscard]] virtual std::optional<Exposure> expose(base::ConstMemoryRef memory) noexcept = 0;
  // Whether this memory of ours is such that a pull outruns every link.
  [[nodiscard]] virtual bool shows(base::ConstMemoryRef /*memory*/) const noexcept { return false; }
  // Exactly one of these two is called, once, for each handle.
  // True: whatever the peer reads from now on, it throws away. False: it
  // has read everything, and takes the message for received.
  virtual bool withdraw(std::uint64_t handle) noexcept = 0;
  // The peer has said that it has read everything.
  virtual void note_pulled(std::uint64_t handle) noexcept = 0;

  // Copies into.bytes bytes from the start of the remote memory. `ok`: done now. `in_progress`: `done`
  // follows from Transport::progress(), unless stop() comes first; until then the transport is unsent().
  // `cancelled`: the peer has withdrawn it, and what was copied is void. Else it failed, nothing more is
  // touched, and the link can bring the data.
  virtual base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept = 0;
  // Whether no link brings this faster than pull() does; else both may be tried.
  [[nodiscard]] virtual bool outruns_links(const RemoteKey& /*key*/) const noexcept { return true; }
  // Ends a pull that is in progress; `done` is not called and the memory not touched any more.
  virtual void stop(Completion& done) noexcept = 0;

  // What its pulls cost this process's core, if no link brings the data faster and both may be tried.
  base::CopyMeter copies;
};

}  // namespace parley::transport
