#include "transport/shm/cross_memory.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>

#include "transport/base/copy_bulk.h"
#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/random.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;

namespace {

// Who may read a process: 0, all of its user's; 1, its descendants, and whom it names; more: nobody without
// privileges. Nothing: there is no such rule, or no digit in the file.
std::optional<int> yama_scope(const char* file) noexcept {
  const base::UniqueFd fd(::open(file, O_RDONLY | O_CLOEXEC));
  char digit = 0;
  if (!fd || ::read(fd.get(), &digit, 1) != 1 || digit < '0' || digit > '9') return std::nullopt;
  return digit - '0';
}

}  // namespace

bool let_peers_read(const char* scope_file) noexcept {
  if (yama_scope(scope_file) != 1) return false;
  (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // if it fails the probes tell
  return true;
}

namespace {

Status read_at_once(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  while (into.bytes != 0) {
    const iovec local{into.data, into.bytes};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), into.bytes};
    const ssize_t got = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {Code::io_error, got < 0 ? errno : EFAULT};
    // Less than asked for: what follows cannot be read, or is there next time.
    const auto bytes = static_cast<std::size_t>(got);
    address += bytes;
    into.data += bytes;
    into.bytes -= bytes;
  }
  return {};
}

// The kernel copies by the string instruction, too, which is slow there: see copy_bulk(). So it copies to
// where it is fast, piece by piece, and from there it is not far.
Status read_aside(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  constexpr std::size_t page = 4096, piece = 16 << 10;
  std::array<std::byte, piece + page> memory;
  std::byte* const aside = memory.data() + (address - reinterpret_cast<std::uintptr_t>(memory.data())) % page;
  while (into.bytes != 0) {
    const std::size_t bytes = std::min(into.bytes, piece);
    if (const Status status = read_at_once(process, address, {aside, bytes}); !status.ok()) return status;
    base::copy_bulk(into.data, aside, bytes);
    address += bytes;
    into.data += bytes;
    into.bytes -= bytes;
  }
  return {};
}

}  // namespace

Status read_process_memory(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept {
  const bool is_slow = base::is_slow_by_string(into.data, address, into.bytes);
  return is_slow ? read_aside(process, address, into) : read_at_once(process, address, into);
}

std::shared_ptr<const CrossMemory> CrossMemory::create(ReadMemory read) {
  std::uint64_t word = 0;
  if (!socket::fill_random(std::as_writable_bytes(std::span(&word, 1)))) return nullptr;
  (void)let_peers_read();
  return std::make_shared<const CrossMemory>(read, word | 1);
}

CrossRead try_cross_read(ReadMemory read, pid_t process, std::uint64_t word_address,
                         std::uint64_t word) noexcept {
  if (process <= 0) return CrossRead::not_seen;
  std::uint64_t seen = 0;
  const Status status = read(process, word_address, {reinterpret_cast<std::byte*>(&seen), sizeof(seen)});
  if (status.ok()) return seen == word ? CrossRead::works : CrossRead::fails;
  return status.native() == EPERM ? CrossRead::not_allowed : CrossRead::fails;
}

std::string why_not(CrossRead result) {
  switch (result) {
    case CrossRead::works: return {};
    // The other reason for which a process has no word, no random bytes, is never to be told here: without
    // them it has no listener either (local_socket.cc), so that there is no link to tell it of.
    case CrossRead::unwanted: return "PARLEY_TRANSPORTS forbids it";
    case CrossRead::not_allowed: {
      const int scope = yama_scope(yama_scope_file).value_or(0);  // with 1 leave was given
      return scope <= 1 ? "not permitted"
                        : base::concat("not permitted (kernel.yama.ptrace_scope is ", scope, ")");
    }
    case CrossRead::not_seen: return "another pid namespace";
    case CrossRead::fails: break;
  }
  return "process_vm_readv fails";
}

}  // namespace parley::transport::shm
