#pragma once

#include <parley/parley.h>

#include <cstddef>
#include <map>

#include "tests/multiprocess/programs/program.h"

namespace parley::testing {

// Runs one rank's part of a program, and compares all that it gets with what the program says.
class RankRun {
 public:
  RankRun(const Program& program, ProcessGroup world);
  void run();

 private:
  void run(const MakeGroups& statement);
  void run(const DropGroup& statement);
  void run(const Exchange& statement);
  void run(const ExchangeObjects& statement);
  void run(const ObjectCollective& statement);

  [[nodiscard]] bool is_in(int group) const { return handles_.contains(group); }
  void expect_group(const ProcessGroup& handle, const PlannedGroup& group) const;
  void expect_nothing_left();

  const Program& program_;
  const int process_;
  std::size_t statement_ = 0;
  std::map<int, ProcessGroup> handles_;  // of groups that this process is in
  std::map<int, PlannedGroup> groups_;   // all that are alive
};

}  // namespace parley::testing
