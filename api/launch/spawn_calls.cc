#include "api/launch/spawn_calls.h"

#include <parley/error.h>

#include "api/launch/spawn_order.h"

namespace parley::launch {

// Never destroyed: a thread may be in a call until the very end.
SpawnCalls& SpawnCalls::instance() {
  static SpawnCalls& calls = *new SpawnCalls;
  return calls;
}

SpawnCalls::SpawnCalls() : stage_(own_spawn_order() ? Stage::on_the_way : Stage::caller) {}

SpawnCall::SpawnCall() : calls_(SpawnCalls::instance()) {
  // acquire: what the last call has noted is seen.
  if (calls_.running_.exchange(true, std::memory_order_acquire))
    throw UsageError(
        "spawn: another thread is in a call of it; one at a time, in the same order in each run");
}

SpawnCall::~SpawnCall() {
  // release: the next call sees what this one has noted.
  calls_.running_.store(false, std::memory_order_release);
}

bool SpawnCall::is_earlier() const noexcept {
  return calls_.stage_ == SpawnCalls::Stage::on_the_way &&
         calls_.past_.size() < own_spawn_order()->earlier.size();
}

bool SpawnCall::is_own() const noexcept {
  return calls_.stage_ == SpawnCalls::Stage::on_the_way && !is_earlier();
}

int SpawnCall::repeat() {
  const int result = own_spawn_order()->earlier[calls_.past_.size()];
  end(result);
  if (result == call_was_refused) throw UsageError("spawn: this call was refused in the parent process");
  if (result == call_has_failed) throw SystemError("spawn: this call failed in the parent process");
  return result;
}

void SpawnCall::enter_rank() noexcept {
  calls_.stage_ = SpawnCalls::Stage::rank;
  calls_.running_.store(false, std::memory_order_release);  // as in the destructor
}

}  // namespace parley::launch
