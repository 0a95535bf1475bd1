#pragma once

#include <chrono>
#include <memory>

#include "api/wireup/world.h"

namespace parley::wireup {

// Shared ownership of a world whose last handle may be dropped anywhere, in a completion function on the
// engine's own thread, too: it then leaves on a thread made for that.
std::shared_ptr<World> share(std::unique_ptr<World> world);

// Waits until all worlds that leave on such threads have left, but not longer than `timeout`. For the end of
// the process, which would take those threads with it.
void wait_for_departures(std::chrono::nanoseconds timeout) noexcept;

}  // namespace parley::wireup
