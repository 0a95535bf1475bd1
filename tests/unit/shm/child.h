#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "transport/base/unique_fd.h"

namespace parley::transport::shm::testing {

// A forked process of the test, which may give up rights, mount over folders, or be killed. It dies with the
// test, and after a minute.
class Child {
 public:
  // `life` returns what the test is to be told: nothing if all is well. An exception's text is told, too.
  explicit Child(const std::function<std::string()>& life);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // What it tells and, if it does not end by itself, how it ends.
  std::string finish();

 private:
  pid_t pid_;
  base::UniqueFd told_;
};

// All of that at once.
inline std::string in_child(const std::function<std::string()>& life) {
  return Child(life).finish();
}

// In the child: a mount namespace of its own, in which what it mounts is seen by nobody else. Throws where
// this user may not do that.
void leave_mount_namespace();
// In the child: a tmpfs over `folder`, with these options.
void mount_tmpfs(const std::string& folder, const std::string& options, unsigned long flags = 0);

// In the child. Throws unless `holds`, so that the test is told.
void expect(bool holds, const std::string& what);

}  // namespace parley::transport::shm::testing
