#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "transport/cuda_ipc/event_slots.h"
#include "transport/cuda_ipc/notes.h"

namespace parley::transport::cuda_ipc {

class Port;

// What the peer of one link has shown us: its allocations and its events, by the numbers of its notes. They
// are opened when they are first needed, and closed when nothing of ours reads them any more.
// Thread-safety: none; the engine's lock.
class PeerView {
 public:
  explicit PeerView(Port& port) noexcept : port_(port) {}
  // Closes everything; for what is still read, the driver waits.
  ~PeerView();
  PeerView(const PeerView&) = delete;
  PeerView& operator=(const PeerView&) = delete;

  // False: no note, or one that nobody sends who keeps to Exports::most and EventSlots::most.
  bool take(std::span<const std::byte> note);

  struct Source {
    const std::byte* data = nullptr;
    int device = -1;  // of the events
    cuda::Event ready = nullptr;
    cuda::Event finished = nullptr;
  };
  // Where the bytes that a key names can be read here. Nothing: there is no such memory or slot, or it cannot
  // be opened.
  std::optional<Source> find(const Key& key, std::size_t bytes) noexcept;
  // What find() gave was read, until its `finished` is reached.
  void note_read(const Key& key) noexcept;
  // Whether nothing of it is read any more.
  [[nodiscard]] bool is_unread() const noexcept;

  // Nothing will be asked for any more: closes what is not read. False: some of it still is; to be called
  // again.
  bool close_all() noexcept;

 private:
  struct Memory {
    MemoryNote note;
    int device = -1;
    std::byte* base = nullptr;  // while it is open
    // Numbers of the slots with which it was read: until their `finished` are reached, it perhaps is.
    std::bitset<EventSlots::most> readers = {};
    bool cannot_be_opened = false;
  };
  struct Slot {
    SlotNote note;
    int device = -1;
    cuda::Event ready = nullptr;  // while it is open
    cuda::Event finished = nullptr;
  };

  bool forget(std::uint32_t number);
  void sweep() noexcept;
  bool open(Memory& memory) noexcept;
  bool open(Slot& slot) noexcept;
  [[nodiscard]] bool is_as_large(const Memory& memory) const noexcept;
  bool close_unread() noexcept;
  [[nodiscard]] bool is_read(const Memory& memory) const noexcept;
  void close(Memory& memory) noexcept;

  Port& port_;
  std::map<std::uint32_t, Memory> memories_;
  std::map<std::uint32_t, Slot> slots_;
  std::vector<Memory> forgotten_;  // open, and perhaps still read
};

}  // namespace parley::transport::cuda_ipc
