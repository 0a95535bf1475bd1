#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

// Waits for a child that a rank has forked.
inline void expect_child_passes(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) expect(errno == EINTR, "waitpid");
  expect(WIFEXITED(status), "the child ended by itself");
  expect_equal(WEXITSTATUS(status), 0, "the child's exit code");
}

}  // namespace parley::testing
