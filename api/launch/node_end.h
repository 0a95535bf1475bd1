#pragma once

#include <string>

#include "api/launch/job_end.h"
#include "api/launch/node_messages.h"

namespace parley::launch {

// Between what one launcher sees and what the nodes tell each other. Pure.

// This node's view of the end, for the others. `sentence` is first_sentence() of it.
NodeOutcome outcome_of(const JobEnd& end, int node, const std::string& sentence);

// Makes another node's word the reason for the end of this node's part.
void adopt(JobEnd& end, const NodeOutcome& outcome);

}  // namespace parley::launch
