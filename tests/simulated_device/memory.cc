#include "tests/simulated_device/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace parley::cuda::testing {
namespace {

constexpr int garbage = 0xD7;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::byte* map(int fd, std::size_t bytes, int rights, int flags, std::byte* at = nullptr) {
  if (at != nullptr) flags |= MAP_FIXED;
  void* mapped = mmap(at, bytes, rights, flags, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

bool is_device(Memory::Origin origin) {
  return origin == Memory::Origin::own || origin == Memory::Origin::own_pool;
}

bool contains(std::initializer_list<Memory::Origin> origins, Memory::Origin origin) {
  return std::find(origins.begin(), origins.end(), origin) != origins.end();
}

}  // namespace

Mapping::Mapping(base::UniqueFd fd, std::byte* address, std::byte* window, std::size_t bytes) noexcept
    : fd_(std::move(fd)), address_(address), window_(window), bytes_(bytes) {}

std::shared_ptr<const Mapping> Mapping::of_device(base::UniqueFd fd, std::size_t bytes, std::byte* address) {
  std::byte* window = map(fd.get(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (window == nullptr) return nullptr;
  // The address is a reservation, and not the file: it outlives this (Memory::retire).
  if (address == nullptr) address = map(-1, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (address == nullptr) {
    munmap(window, bytes);
    return nullptr;
  }
  return std::shared_ptr<const Mapping>(new Mapping(std::move(fd), address, window, bytes));
}

std::shared_ptr<const Mapping> Mapping::of_host(std::size_t bytes) {
  std::byte* memory = map(-1, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (memory == nullptr) return nullptr;
  return std::shared_ptr<const Mapping>(new Mapping(base::UniqueFd(), memory, memory, bytes));
}

Mapping::~Mapping() {
  munmap(window_, bytes_);
}

Memory::Memory(int devices, std::size_t bytes_per_device, int first_physical)
    : bytes_per_device_(bytes_per_device),
      first_physical_(first_physical),
      used_(static_cast<std::size_t>(devices)) {}

Memory::~Memory() {
  for (const auto& [address, piece] : pieces_)
    if (piece.mapping->address() != piece.mapping->window()) retire(*piece.mapping);
  for (const auto& [address, bytes] : retired_) munmap(reinterpret_cast<void*>(address), bytes);
}

std::byte* Memory::take_retired(std::size_t bytes) {
  const auto found =
      std::find_if(retired_.begin(), retired_.end(), [&](const auto& each) { return each.second == bytes; });
  if (found == retired_.end()) return nullptr;
  auto* address = reinterpret_cast<std::byte*>(found->first);
  retired_.erase(found);
  return address;
}

void Memory::retire(const Mapping& mapping) {
  retired_.emplace(number(mapping.address()), mapping.bytes());
}

std::byte* Memory::add(Piece piece) {
  std::byte* address = piece.mapping->address();
  piece.buffer_id = next_buffer_id_++;
  pieces_.emplace(number(address), std::move(piece));
  return address;
}

Code Memory::allocate(Origin origin, int device, std::size_t bytes, std::byte*& address) {
  if (bytes == 0) return Code::invalid_value;
  const std::lock_guard lock(mutex_);
  const std::size_t size = whole_pages(bytes);
  Piece piece{.origin = origin, .device = device, .entered = device, .bytes = bytes};
  if (is_device(origin)) {
    std::size_t& used = used_[static_cast<std::size_t>(device)];
    if (size > bytes_per_device_ - used) return Code::out_of_memory;
    base::UniqueFd fd(memfd_create("simulated device", MFD_CLOEXEC));
    if (!fd || ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return Code::out_of_memory;
    piece.mapping = Mapping::of_device(std::move(fd), size, take_retired(size));
    if (piece.mapping == nullptr) return Code::out_of_memory;
    std::memset(piece.mapping->window(), garbage, size);
    used += size;
  } else {
    piece.mapping = Mapping::of_host(size);
    if (piece.mapping == nullptr) return Code::out_of_memory;
  }
  address = add(std::move(piece));
  return Code::ok;
}

Code Memory::release(std::byte* address, int device, std::initializer_list<Origin> origins) {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(number(address));
  if (found == pieces_.end() || !contains(origins, found->second.origin)) return Code::invalid_value;
  const Piece& piece = found->second;
  const bool is_of_host = piece.mapping->address() == piece.mapping->window();
  if (!is_of_host && piece.entered != device) return Code::invalid_context;
  if (is_device(piece.origin)) used_[static_cast<std::size_t>(device)] -= piece.mapping->bytes();
  if (!is_of_host) retire(*piece.mapping);
  pieces_.erase(found);
  return Code::ok;
}

Memory::Pieces::const_iterator Memory::find(const void* address) const {
  auto found = pieces_.upper_bound(number(address));
  if (found == pieces_.begin()) return pieces_.end();
  --found;
  return number(address) < found->first + found->second.bytes ? found : pieces_.end();
}

void Memory::facts_of(const void* address, PointerFacts& facts) const {
  facts = {};
  const std::lock_guard lock(mutex_);
  const auto found = find(address);
  if (found == pieces_.end()) return;
  const Piece& piece = found->second;
  if (piece.origin == Origin::pinned) {
    facts.type = MemoryType::pinned;
  } else if (piece.origin == Origin::managed) {
    facts.type = MemoryType::managed;
    facts.device = piece.device;
  } else {
    facts = {.type = MemoryType::device,
             .device = piece.device,
             .base = piece.mapping->address(),
             .bytes = piece.bytes,
             .buffer_id = piece.buffer_id,
             .can_be_exported = piece.origin == Origin::own};
  }
}

Code Memory::export_memory(std::byte* base, int device, MemoryHandle& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(number(base));
  if (found == pieces_.end() || found->second.origin != Origin::own) return Code::invalid_value;
  const Piece& piece = found->second;
  if (piece.device != device) return Code::invalid_context;
  handle.bytes = seal(
      {.physical_device = first_physical_ + piece.device, .bytes = piece.bytes, .buffer_id = piece.buffer_id},
      piece.mapping->fd());
  return Code::ok;
}

Code Memory::import_memory(const MemoryHandle& handle, int device, std::byte*& base) {
  Export what;
  if (const Code code = unseal(handle.bytes, what); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, piece] : pieces_)
    if (piece.origin == Origin::imported && piece.from == what) return Code::already_mapped;
  const int owner = what.physical_device - first_physical_;
  if (owner < 0 || owner >= static_cast<int>(used_.size()))
    return Code::map_failed;  // a device hidden from us
  base::UniqueFd fd;
  if (const Code code = open_export(what, fd); code != Code::ok) return code;
  const std::size_t size = whole_pages(what.bytes);
  Piece piece{
      .origin = Origin::imported, .device = owner, .entered = device, .bytes = what.bytes, .from = what};
  piece.mapping = Mapping::of_device(std::move(fd), size, take_retired(size));
  if (piece.mapping == nullptr) return Code::out_of_memory;
  base = add(std::move(piece));
  return Code::ok;
}

bool Memory::is_imported_for_another(const void* address, int device) const {
  const std::lock_guard lock(mutex_);
  const auto found = find(address);
  return found != pieces_.end() && found->second.origin == Origin::imported &&
         found->second.entered != device;
}

std::optional<Memory::Window> Memory::reach(const void* address, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = find(address); found != pieces_.end()) {
    const std::size_t offset = number(address) - found->first;
    if (bytes > found->second.bytes - offset) return std::nullopt;
    return Window{found->second.mapping->window() + offset, found->second.mapping};
  }
  // Freed, or behind the end of an allocation in its last page.
  const auto in = [&](std::uintptr_t start, std::size_t size) {
    return number(address) >= start && number(address) < start + size;
  };
  for (const auto& [start, size] : retired_)
    if (in(start, size)) return std::nullopt;
  for (const auto& [start, piece] : pieces_)
    if (in(start, piece.mapping->bytes())) return std::nullopt;
  return Window{static_cast<std::byte*>(const_cast<void*>(address)), nullptr};
}

std::size_t Memory::count(std::initializer_list<Origin> origins) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(pieces_.begin(), pieces_.end(), [&](const auto& each) {
    return contains(origins, each.second.origin);
  }));
}

}  // namespace parley::cuda::testing
