#pragma once

#include <optional>
#include <vector>

namespace parley::transport::shm::testing {

// A system call that the kernel answers with `error` from now on, as the filters of containers do.
struct RefusedCall {
  long number;
  int error;
  // Only with one of these bits in the argument of this index.
  struct Argument {
    unsigned index;
    unsigned bits;
  };
  std::optional<Argument> only_with = {};
};

// memfd_create(2)
RefusedCall refused_memfd(int error);
// openat(2) with O_TMPFILE
RefusedCall refused_unnamed_file();
// openat(2) with O_CREAT
RefusedCall refused_new_file();

// pidfd_open(2), and getsockopt(2) for SO_PEERPIDFD: no process can be watched by a descriptor.
std::vector<RefusedCall> refused_pidfds();

// Installs a seccomp filter in the calling process, for the rest of its life. Throws where that cannot be.
void refuse_calls(const std::vector<RefusedCall>& calls);

}  // namespace parley::transport::shm::testing
