#include <parley/process_group.h>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

[[gnu::hot]] Work ProcessGroup::barrier(const CollectiveOptions& options) {
  const detail::GroupState& group = detail::require_member(state_, "barrier");
  return detail::launch(state_, detail::begin_call(group, "barrier", schedule::Operation::barrier, options));
}

}  // namespace parley
