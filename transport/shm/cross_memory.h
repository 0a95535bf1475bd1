#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"

// Copies out of another process's memory (cross-memory attach), and whether a pair of processes may.
namespace parley::transport::shm {

// Reads into.bytes bytes at `address` in `process`; by way of a few pages here where the kernel's copy would
// be as slow as base::copy_bulk() says. Fails with the errno of process_vm_readv(2).
using ReadMemory = base::Status (*)(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept;
base::Status read_process_memory(pid_t process, std::uint64_t address, base::MemoryRef into) noexcept;

// Lets the other processes of this one's user read it where Yama, a part of the kernel, lets descendants
// alone do so otherwise (kernel.yama.ptrace_scope is 1, as Debian and Ubuntu have it). Until somebody in this
// process asks for something else; its debuggers may be any of that user's, too. Whether that was asked for.
// `scope_file` is another one in tests.
inline constexpr char yama_scope_file[] = "/proc/sys/kernel/yama/ptrace_scope";
bool let_peers_read(const char* scope_file = yama_scope_file) noexcept;

// What a process brings to it: a way to read others, and a word by which others try to read it. One for all
// its peers. Thread-safety: immutable.
class CrossMemory {
 public:
  // `read` is another one in tests. Null: the system gave no random bytes. Else let_peers_read() was called.
  static std::shared_ptr<const CrossMemory> create(ReadMemory read = read_process_memory);

  CrossMemory(ReadMemory how, std::uint64_t word) noexcept : read(how), word_(word) {}
  CrossMemory(const CrossMemory&) = delete;
  CrossMemory& operator=(const CrossMemory&) = delete;

  const ReadMemory read;
  // Where others find the word, and what stands there: never 0.
  [[nodiscard]] std::uint64_t word_address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(&word_);
  }
  [[nodiscard]] std::uint64_t word() const noexcept { return word_; }

 private:
  const std::uint64_t word_;  // random: nobody else has it there
};

// Whether one process can read another. On the wire.
enum class CrossRead : std::uint8_t {
  works = 0,
  unwanted = 1,     // one of the two was told not to, or has no memory for it
  not_allowed = 2,  // EPERM
  not_seen = 3,     // in a pid namespace that the reader does not see
  fails = 4,        // another error, or what was read is not what stands there
};

// Tries to read `word` at `word_address` in `process`; 0: it is in a namespace that we do not see.
CrossRead try_cross_read(ReadMemory read, pid_t process, std::uint64_t word_address,
                         std::uint64_t word) noexcept;

// What two processes have found out about it.
struct CrossMemoryTerms {
  std::shared_ptr<const CrossMemory> own;  // null: we are told not to
  pid_t process = 0;                       // the peer
  CrossRead we_read = CrossRead::unwanted;
  CrossRead peer_reads = CrossRead::unwanted;
  // Where its word is, and what stands there; while we can read it.
  std::uint64_t word_address = 0;
  std::uint64_t word = 0;
};

// Why not, for people: "not permitted", and by what, if that is known.
std::string why_not(CrossRead result);

}  // namespace parley::transport::shm
