#pragma once

#include <string>
#include <vector>

#include "api/launch/job_end.h"

namespace parley::launch {

// What people read after a job that did not end well.
struct ReportContext {
  std::string reporter;     // "parley-run"
  std::string program;      // what the ranks ran
  std::string last_errors;  // last lines of the culprit's standard error, joined with newlines
};

// Whole lines. Empty when all is well. A rank's failure, for example:
//
//   parley-run: rank 2 failed first: ./solve (pid 4711) exited with code 3 after 1.25 s
//   parley-run: its last lines on standard error:
//     | cannot read mesh.bin
//   parley-run: the others: ranks 0, 1 and 3 died of signal 15 (SIGTERM), sent by parley-run
//
// In a job on several hosts the first line names the node as well:
//
//   parley-run: node 1 (host-b, pid 4710): rank 6 failed first: ./solve (pid 4711) exited with code 3 after
//   ...
std::string report(const JobEnd& end, const ReportContext& context);

// The first of these lines without the reporter and the node: what the other nodes are told.
std::string first_sentence(const JobEnd& end, const ReportContext& context);

// "0", "0 and 2", "0, 1 and 3", "0 to 7 and 9".
std::string list_ranks(const std::vector<int>& ranks);

}  // namespace parley::launch
