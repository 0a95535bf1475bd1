#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "transport/cuda_ipc/notes.h"
#include "transport/cuda_ipc/port.h"

namespace parley::transport::cuda_ipc {

// Which allocations the peer of one link has been told of, by number. One whose address has come to another
// allocation is told anew, for its buffer id is another. Those used last are kept, a bounded number. What was
// freed the peer has open until it is forgotten, which it is before the next one is told.
// Thread-safety: none; the engine's lock.
class Exports {
 public:
  static constexpr std::size_t most = 512;

  explicit Exports(Port& port) noexcept : port_(port) {}

  // The number of the allocation that these are the facts of, whose device is entered. What the peer has to
  // be told first is added to `notes`. Nothing: it cannot be shown.
  std::optional<std::uint32_t> number_of(const cuda::PointerFacts& facts, std::deque<Note>& notes);

 private:
  struct Entry {
    std::uint32_t number = 0;
    std::uint64_t buffer_id = 0;
    std::uint64_t used_at = 0;
  };
  void forget_freed(std::deque<Note>& notes);
  void forget(std::map<std::byte*, Entry>::iterator entry, std::deque<Note>& notes);

  Port& port_;
  std::map<std::byte*, Entry> entries_;  // by base address
  std::uint32_t last_number_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace parley::transport::cuda_ipc
