#include "api/wireup/last_handle.h"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <thread>

#include "transport/base/deadline.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::wireup {
namespace {

constexpr auto handle_look_period = std::chrono::milliseconds(1);

// Worlds that leave on a thread of their own.
std::atomic<int> departures{0};

// A forked child has none of its parent's threads.
void forget_departures_in_children() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { departures.store(0, std::memory_order_relaxed); });
  (void)registered;
}

// On a thread of its own: the engine's end joins the thread that we are on.
void depart(World* world) noexcept {
  forget_departures_in_children();
  departures.fetch_add(1, std::memory_order_relaxed);
  try {
    base::start_own_thread("leave", [world] {
      delete world;
      // release: whoever sees it sees the world gone.
      departures.fetch_sub(1, std::memory_order_release);
    }).detach();
  } catch (const std::exception& error) {
    departures.fetch_sub(1, std::memory_order_relaxed);
    PARLEY_LOG(error, "init", "a world cannot be left: no thread for it: ", error.what());
  }
}

}  // namespace

std::shared_ptr<World> share(std::unique_ptr<World> world) {
  return {world.release(), [](World* last) noexcept {
            if (last->engine->on_background_thread())
              depart(last);
            else
              delete last;
          }};
}

void wait_for_departures(std::chrono::nanoseconds timeout) noexcept {
  const auto deadline = base::Deadline::after(timeout);
  // acquire: pairs with the release above.
  while (departures.load(std::memory_order_acquire) != 0 && !deadline.expired())
    std::this_thread::sleep_for(handle_look_period);
}

}  // namespace parley::wireup
