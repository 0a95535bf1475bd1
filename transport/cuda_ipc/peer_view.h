#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transport/cuda_ipc/notes.h"
#include "transport/cuda_ipc/semaphores.h"
#include "transport/cuda_ipc/slots.h"

namespace parley::transport::cuda_ipc {

class Port;

// What the peer of one link has shown us: its allocations, by the numbers of its notes, and the semaphores of
// its slots. Allocations are opened when they are first needed, and closed when nothing of ours uses them and
// the peer has said that they are gone, or has gone itself, or there is no room for others. Thread-safety:
// none; the engine's lock.
class PeerView {
 public:
  PeerView(Port& port, std::shared_ptr<Semaphores> semaphores) noexcept
      : port_(port), semaphores_(std::move(semaphores)) {}
  // Closes everything; for what is still used, the driver waits.
  ~PeerView();
  PeerView(const PeerView&) = delete;
  PeerView& operator=(const PeerView&) = delete;

  [[nodiscard]] const std::shared_ptr<Semaphores>& semaphores() const noexcept { return semaphores_; }
  // False: no note, or one that nobody sends who keeps to Exports::most.
  bool take(std::span<const std::byte> note);

  // Where the bytes that a key names are here, for copies of `device`. Null: there is no such memory or slot,
  // or it cannot be opened.
  [[nodiscard]] std::byte* find(const Key& key, std::size_t bytes, int device) noexcept;
  // Whether it is memory of this device, as far as the peer says.
  [[nodiscard]] bool is_of(const Key& key, int device) const noexcept;
  // Whether there is memory of this device among what the peer shows now.
  [[nodiscard]] bool shows_memory_of(int device) const noexcept;
  // What find() gave is used by this stream, of this device, by all that it is told until now.
  void note_use(const Key& key, int device, cuda::Stream stream) noexcept;
  // Whether nothing of it is used any more.
  [[nodiscard]] bool is_unused() const noexcept;

  // Nothing will be asked for any more: closes what is not used. False: some of it still is; to be called
  // again.
  bool close_all() noexcept;

 private:
  // By which slots' messages an allocation was used: until the streams have passed them, it perhaps is.
  using Users = std::bitset<Slots::most>;
  struct Memory {
    MemoryNote note;
    std::byte* base = nullptr;  // while it is open
    Users users = {};
    std::uint64_t opens_after = 0;  // closings() before which nobody tries to open it
  };
  // Of the last message of a slot.
  struct Use {
    int device = -1;
    cuda::Event passed = nullptr;  // an event of that device
  };

  bool forget(std::uint32_t number);
  bool open(Memory& memory, int device) noexcept;
  cuda::Code map(Memory& memory, int device) noexcept;
  [[nodiscard]] static bool may_be_opened(const Memory& memory) noexcept;
  [[nodiscard]] bool is_as_large(const Memory& memory) const noexcept;
  // Both close what is not used. True: there is more room for others now.
  bool close_forgotten() noexcept;
  bool close_unused() noexcept;
  [[nodiscard]] bool is_used(const Memory& memory) const noexcept;
  [[nodiscard]] bool is_under_way(const Use& use) const noexcept;
  void close(Memory& memory) noexcept;

  Port& port_;
  std::map<std::uint32_t, Memory> memories_;
  std::map<std::uint32_t, Use> uses_;  // by slot
  std::vector<Memory> forgotten_;      // open, and perhaps still used
  bool has_unknown_use_ = false;       // for which there was no event
  std::shared_ptr<Semaphores> semaphores_;
};

}  // namespace parley::transport::cuda_ipc
