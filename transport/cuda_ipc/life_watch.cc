#include "transport/cuda_ipc/life_watch.h"

#include <poll.h>

#include <new>
#include <utility>
#include <vector>

#include "transport/base/epoll.h"
#include "transport/base/threads.h"
#include "transport/cuda_ipc/semaphores.h"

namespace parley::transport::cuda_ipc {
namespace {

// A dead peer's device, and ours, may write words still: they are released again and again.
constexpr int release_period_ms = 10;

bool is_readable(const base::UniqueFd& descriptor) noexcept {
  pollfd look{descriptor.get(), POLLIN, 0};
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace

LifeWatch::~LifeWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  base::signal_event(changed_);
  thread_.join();
}

LifeWatch::Number LifeWatch::add(base::UniqueFd end_of_life, std::shared_ptr<std::byte> ours,
                                 std::shared_ptr<std::byte> peers) {
  const std::lock_guard lock(mutex_);
  if (!changed_) changed_ = base::make_event_fd();
  if (!thread_.joinable()) thread_ = base::start_own_thread("watch", [this] { main(); });
  peers_.emplace(last_ + 1, Peer{std::move(end_of_life), std::move(ours), std::move(peers)});
  base::signal_event(changed_);
  return ++last_;
}

void LifeWatch::remove(Number number) noexcept {
  const std::lock_guard lock(mutex_);
  peers_.erase(number);  // the thread may hear of its end once more, and finds nobody
}

void LifeWatch::main() noexcept {
  std::vector<pollfd> ends;
  for (bool has_dead = false;;) {
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
      try {
        ends.assign(1, {changed_.get(), POLLIN, 0});
        for (const auto& [number, peer] : peers_)
          if (!peer.has_ended) ends.push_back({peer.end_of_life.get(), POLLIN, 0});
      } catch (const std::bad_alloc&) {
        has_dead = true;  // those that are not among them are looked at from time to time
      }
    }
    (void)::poll(ends.data(), ends.size(), has_dead ? release_period_ms : -1);
    base::clear_event(changed_);
    has_dead = release_ended();
  }
}

// Whether there are any, that are not removed.
bool LifeWatch::release_ended() noexcept {
  const std::lock_guard lock(mutex_);
  bool has_dead = false;
  for (auto& [number, peer] : peers_) {
    peer.has_ended = peer.has_ended || is_readable(peer.end_of_life);
    if (!peer.has_ended) continue;
    has_dead = true;
    Semaphores::release(*peer.ours);
    Semaphores::release(*peer.peers);
  }
  return has_dead;
}

}  // namespace parley::transport::cuda_ipc
