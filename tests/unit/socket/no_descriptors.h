#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <vector>

#include "transport/base/unique_fd.h"

namespace parley::socket::testing {

// Lowers the number of descriptors this process may have and uses all of them up, while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = 128;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (;;) {
      base::UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!fd) break;
      held_.push_back(std::move(fd));
    }
    EXPECT_EQ(errno, EMFILE);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<base::UniqueFd> held_;
};

}  // namespace parley::socket::testing
