#include "transport/shm/window.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport::shm {

std::size_t WindowPool::made() const noexcept {
  return static_cast<std::size_t>(std::count_if(windows_.begin(), windows_.end(), [](const Window& window) {
    return window.memory.data() != nullptr;
  }));
}

std::optional<std::size_t> WindowPool::lease(const WindowSet& among, WindowTenant& tenant) noexcept {
  WindowSet asked;
  for (;;) {
    std::optional<std::size_t> best;
    for (std::size_t place = 0; place < most_windows; ++place) {
      if (!among[place] || asked[place] || generation(place) == 0) continue;
      if (!best || age_rank(place) < age_rank(*best)) best = place;
    }
    if (!best) return std::nullopt;
    Window& window = windows_[*best];
    asked.set(*best);
    if (window.tenant != nullptr && !window.tenant->give_up_window()) continue;
    window.tenant = &tenant;
    touch(*best);
    return best;
  }
}

void WindowPool::retire(std::size_t place) noexcept {
  windows_[place].memory = {};
  windows_[place].tenant = nullptr;
}

std::optional<std::size_t> WindowPool::another(const WindowSet& known) noexcept {
  std::optional<std::size_t> leased;
  for (std::size_t place = 0; place < most_windows; ++place) {
    if (known[place] || windows_[place].memory.data() == nullptr) continue;
    if (windows_[place].tenant == nullptr) return place;
    leased = place;
  }
  const std::optional<std::size_t> fresh = make();
  return fresh ? fresh : leased;
}

std::optional<std::size_t> WindowPool::make() noexcept {
  if (short_of_memory_ || made() >= plan_.most) return std::nullopt;
  try {
    auto memory = Segment::create(plan_.bytes);
    if (memory) {
      const auto place = static_cast<std::size_t>(
          std::find_if(windows_.begin(), windows_.end(),
                       [](const Window& window) { return window.memory.data() == nullptr; }) -
          windows_.begin());
      windows_[place].memory = std::move(memory).value();
      ++windows_[place].generation;
      return place;
    }
    PARLEY_LOG(info, "shm", "large messages go through the rings: ", memory.failure().message);
  } catch (const std::bad_alloc&) {
    PARLEY_LOG(info, "shm", "large messages go through the rings: out of memory");
  }
  short_of_memory_ = true;
  return std::nullopt;
}

}  // namespace parley::transport::shm
