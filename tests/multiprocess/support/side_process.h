#pragma once

#include <sys/types.h>

#include <functional>

namespace parley::testing {

// A process beside the ranks, for instance one that sends them signals. Start it before the ranks, while the
// test has one thread. It dies with the test, and with this object.
class SideProcess {
 public:
  explicit SideProcess(const std::function<void()>& run);
  ~SideProcess();
  SideProcess(const SideProcess&) = delete;
  SideProcess& operator=(const SideProcess&) = delete;

 private:
  pid_t pid_;
};

}  // namespace parley::testing
