#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/simulated_device/handles.h"
#include "transport/cuda/api.h"

namespace parley::cuda::testing {

// Memory that is mapped: at the address that the library sees, and at one where the simulator reads and
// writes.
class Mapping {
 public:
  // Of a device: `fd` is mapped at `address` (null: anywhere) so that the CPU faults there, and again in a
  // window. Null: no memory.
  static std::shared_ptr<const Mapping> of_device(base::UniqueFd fd, std::size_t bytes, std::byte* address);
  // Of the host: address and window are one.
  static std::shared_ptr<const Mapping> of_host(std::size_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::byte* window() const noexcept { return window_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // whole pages
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  Mapping(base::UniqueFd fd, std::byte* address, std::byte* window, std::size_t bytes) noexcept;

  base::UniqueFd fd_;
  std::byte* address_;
  std::byte* window_;
  std::size_t bytes_;
};

// All memory that a process's CUDA knows of. Thread-safety: all calls.
// An address of a device stays reserved when its memory is freed, and is given to the next allocation of that
// size: so does CUDA, and whoever keeps what it knew of an address must notice.
class Memory {
 public:
  enum class Origin : std::uint8_t {
    own,       // of a device
    own_pool,  // of a device, out of a pool: cannot be exported
    imported,
    pinned,
    managed,
  };

  Memory(int devices, std::size_t bytes_per_device, int first_physical);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Device memory is full of 0xD7. `device` is -1 for pinned memory.
  Code allocate(Origin origin, int device, std::size_t bytes, std::byte*& address);
  // Of any of these origins. `device` must be the one that it was allocated or imported with, if it is a
  // device's.
  Code release(std::byte* address, int device, std::initializer_list<Origin> origins);
  void facts_of(const void* address, PointerFacts& facts) const;
  // Whether it was imported while another device than this one was entered.
  [[nodiscard]] bool is_imported_for_another(const void* address, int device) const;

  Code export_memory(std::byte* base, int device, MemoryHandle& handle) const;
  Code import_memory(const MemoryHandle& handle, int device, std::byte*& base);

  // Where the simulator reads and writes what `address` names. `kept` holds it there, whoever frees it
  // meanwhile.
  struct Window {
    std::byte* bytes = nullptr;
    std::shared_ptr<const Mapping> kept;  // null: pageable memory
  };
  // Nothing: it is a device's and not, or not wholly, allocated.
  [[nodiscard]] std::optional<Window> reach(const void* address, std::size_t bytes) const;

  [[nodiscard]] std::size_t count(std::initializer_list<Origin> origins) const;

 private:
  struct Piece {
    Origin origin = Origin::own;
    int device = -1;        // whose memory it is
    int entered = -1;       // the device that was entered when it was made
    std::size_t bytes = 0;  // as asked for
    std::uint64_t buffer_id = 0;
    Export from = {};  // imported: by whom
    std::shared_ptr<const Mapping> mapping = {};
  };
  using Pieces = std::map<std::uintptr_t, Piece>;  // by address

  // The piece that the address lies in, or end().
  [[nodiscard]] Pieces::const_iterator find(const void* address) const;
  // The address of freed memory of that size; null: there is none.
  std::byte* take_retired(std::size_t bytes);
  void retire(const Mapping& mapping);
  std::byte* add(Piece piece);

  const std::size_t bytes_per_device_;
  const int first_physical_;
  mutable std::mutex mutex_;  // guards all below
  Pieces pieces_;
  std::vector<std::size_t> used_;                  // by device
  std::map<std::uintptr_t, std::size_t> retired_;  // addresses of freed device memory, and their bytes
  std::uint64_t next_buffer_id_ = 1;
};

}  // namespace parley::cuda::testing
