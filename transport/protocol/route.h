#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/interface/mover.h"
#include "transport/protocol/path_choice.h"

namespace parley::transport {

struct Request;
struct RouteTag;

// How a receive gets a large message that it could pull or be sent, see routing.cc. Owned by Messenger's
// pool, one for each such receive. In `invited_` while its sender was asked and nothing has come.
struct Route : base::ListHook<RouteTag> {
  Route(Request& of, const RemoteKey& under, Path chosen, const PathChoice::Start& start, std::uint64_t look)
      : request(&of), key(under), path(chosen), since(start), asked_at(look) {}

  [[nodiscard]] bool is_timed() const noexcept { return since.at != PathChoice::TimePoint{}; }

  Request* request;
  RemoteKey key;
  Path path;
  PathChoice::Start since;  // when it took this path; zero: it is not timed
  std::uint64_t asked_at;   // Messenger's count of looks then
  // Where ranks share cores, see is_patient(): until when to wait, and the look at the latest data by then.
  std::chrono::steady_clock::time_point patient_until{};
  std::uint64_t news_at = 0;
};

}  // namespace parley::transport
