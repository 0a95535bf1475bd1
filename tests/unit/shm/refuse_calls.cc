#include "tests/unit/shm/refuse_calls.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace parley::transport::shm::testing {
namespace {

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// The lower half of a 64-bit argument.
std::size_t offset_of(unsigned index) {
  return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t) +
         (std::endian::native == std::endian::big ? sizeof(std::uint32_t) : 0);
}

void add(std::vector<sock_filter>& program, const RefusedCall& call) {
  const auto verdict = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | static_cast<unsigned>(call.error));
  program.push_back(load(offsetof(seccomp_data, nr)));
  const std::uint8_t skipped = call.only_with ? 3 : 1;
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call.number), 0, skipped));
  if (call.only_with) {
    program.push_back(load(offset_of(call.only_with->index)));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, call.only_with->bits, 0, 1));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
}

}  // namespace

RefusedCall refused_memfd(int error) {
  return {.number = SYS_memfd_create, .error = error};
}

RefusedCall refused_unnamed_file() {
  // The bit of O_TMPFILE that is not O_DIRECTORY's.
  return {.number = SYS_openat, .error = EOPNOTSUPP, .only_with = {{2, O_TMPFILE & ~O_DIRECTORY}}};
}

RefusedCall refused_new_file() {
  return {.number = SYS_openat, .error = EACCES, .only_with = {{2, O_CREAT}}};
}

std::vector<RefusedCall> refused_pidfds() {
  // A bit of SO_PEERPIDFD, 77, that no option for sockets in general has which anybody asks for.
  return {{.number = SYS_pidfd_open, .error = ENOSYS},
          {.number = SYS_getsockopt, .error = ENOPROTOOPT, .only_with = {{2, 64}}}};
}

void refuse_calls(const std::vector<RefusedCall>& calls) {
  std::vector<sock_filter> program;
  for (const RefusedCall& call : calls) add(program, call);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    throw std::runtime_error(std::string("no seccomp filter can be installed: ") + std::strerror(errno));
}

}  // namespace parley::transport::shm::testing
