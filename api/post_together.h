#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "transport/base/status.h"
#include "transport/engine/engine.h"

namespace parley::detail {

// Operations that failed at once: their places, and why. Adding one is kept out of the loop that posts them.
class FailedAtOnce {
 public:
  [[gnu::cold, gnu::noinline]] void add(std::size_t i, base::Status status) { all_.emplace_back(i, status); }
  [[nodiscard]] const std::vector<std::pair<std::size_t, base::Status>>& all() const noexcept { return all_; }

 private:
  std::vector<std::pair<std::size_t, base::Status>> all_;
};

// Posts sends and receives in one visit: the receives, then the sends, and sends off what leaves together.
// `at(i)` is one of them, with is_send(), post(visit), and leave(status) for one that failed at once; all are
// of one engine.
template <typename At>
void post_together(transport::Engine& engine, std::size_t receives, std::size_t sends, const At& at) {
  FailedAtOnce failed;
  {
    transport::Engine::Visit visit(engine);
    const auto post = [&](bool are_sends, std::size_t left) {
      for (std::size_t i = 0; left > 0; ++i) {
        const auto item = at(i);
        if (item.is_send() != are_sends) continue;
        --left;
        if (const base::Status status = item.post(visit); status.failed()) [[unlikely]]
          failed.add(i, status);
      }
    };
    post(false, receives);
    if (sends > 0) {
      visit.hold_back();
      post(true, sends);
      visit.let_leave();
    }
  }
  for (const auto& [i, status] : failed.all()) at(i).leave(status);
}

}  // namespace parley::detail
