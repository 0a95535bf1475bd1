#include <parley/error.h>
#include <parley/init.h>

#include <utility>

#include "api/current_world.h"
#include "api/group_state.h"
#include "api/wireup/last_handle.h"
#include "api/wireup/wireup.h"
#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley {
namespace {

constexpr auto default_timeout = std::chrono::minutes(30);
constexpr auto default_init_timeout = std::chrono::minutes(5);

wireup::WireupOptions resolve(const InitOptions& options) {
  wireup::WireupOptions result;
  if (options.store != nullptr) {
    if (options.rank < 0 || options.world_size < 1)
      throw UsageError("init() with a store needs a rank and a world_size");
    if (options.rank >= options.world_size)
      throw UsageError(base::concat("init(): rank ", options.rank, " is out of range: valid ranks are 0 to ",
                                    options.world_size - 1));
    result.place.rank = options.rank;
    result.place.world_size = options.world_size;
    result.place.source = "a store of the program";
    result.store = options.store;
  } else {
    result.place = rendezvous::discover(options.method, options.rank, options.world_size);
  }
  result.host = options.host;
  result.secret = options.secret;
  result.tls = options.tls;
  const auto pick = [](const auto& given, const char* variable, std::chrono::nanoseconds fallback) {
    return given ? *given : base::env_duration(variable).value_or(fallback);
  };
  result.timeout = pick(options.timeout, "PARLEY_TIMEOUT", default_timeout);
  result.init_timeout = pick(options.init_timeout, "PARLEY_INIT_TIMEOUT", default_init_timeout);
  return result;
}

}  // namespace

ProcessGroup init(const InitOptions& options) {
  auto& current = detail::CurrentWorld::instance();
  current.begin_joining();
  try {
    base::check_log_environment();
    base::warn_about_unknown_variables();
    const wireup::WireupOptions resolved = resolve(options);
    if (resolved.place.alone)
      PARLEY_LOG(info, "init",
                 "none of PARLEY_RANK, RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT nor a launcher's variables "
                 "is set: "
                 "a world of one");
    else
      PARLEY_LOG(info, "init", "rank ", resolved.place.rank, " of ", resolved.place.world_size, " by ",
                 resolved.place.source);
    auto state = detail::GroupState::of_world(wireup::share(wireup::wire_up(resolved)));
    current.joined(state->world);
    return detail::GroupAccess::make(std::move(state));
  } catch (...) {
    current.joining_failed();
    throw;
  }
}

ProcessGroup init(const std::string& method) {
  return init(InitOptions{.method = method});
}

bool is_initialized() noexcept {
  return detail::CurrentWorld::instance().exists();
}

void destroy() {
  detail::CurrentWorld::instance().leave();
}

}  // namespace parley
