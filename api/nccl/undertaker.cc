#include "api/nccl/undertaker.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "transport/base/log.h"

namespace parley::nccl {

using namespace std::chrono_literals;

namespace {
constexpr auto patience_of_destructor = 1s;
constexpr auto patience_with_peers = 5s;
constexpr auto look_period = 1ms;
}  // namespace

// Invariants: `asked`, `is_dropped` and `has_ended` only ever turn true; what was asked for does not change
// afterwards. The thread holds this, too.
struct Undertaker::Shared {
  Shared(Library& of_library, cuda::Api& of_api, int on_device) noexcept
      : library(of_library), api(of_api), device(on_device) {}
  Library& library;
  cuda::Api& api;
  const int device;

  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  Communicator communicator = nullptr;
  Manner manner = Manner::finish;
  bool asked = false;
  bool is_dropped = false;  // nobody will ask any more
  bool has_ended = false;
};

Undertaker::Undertaker(Library& library, cuda::Api& api, int device)
    : shared_(std::make_shared<Shared>(library, api, device)) {
  std::thread([shared = shared_] { main(shared); }).detach();
}

Undertaker::~Undertaker() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_dropped = true;
  shared_->changed.notify_all();
  if (shared_->changed.wait_for(lock, patience_of_destructor, [this] { return shared_->has_ended; })) return;
  PARLEY_LOG(warn, "cuda", "an NCCL communicator has not ended within a second; a thread goes on with that");
}

void Undertaker::abort(Communicator communicator) noexcept {
  ask(communicator, Manner::abort);
}

void Undertaker::finish(Communicator communicator) noexcept {
  ask(communicator, Manner::finish);
}

void Undertaker::ask(Communicator communicator, Manner manner) noexcept {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->asked) return;
  shared_->asked = true;
  shared_->communicator = communicator;
  shared_->manner = manner;
  shared_->changed.notify_all();
}

void Undertaker::main(const std::shared_ptr<Shared>& shared) noexcept {
  std::unique_lock lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->asked || shared->is_dropped; });
  const bool has_work = shared->asked && shared->communicator != nullptr;
  lock.unlock();
  if (has_work) {
    const cuda::DeviceScope scope(shared->api, shared->device);
    if (shared->manner == Manner::finish)
      finish_now(*shared);
    else
      (void)shared->library.abort(shared->communicator);  // there is nobody to be told
  }
  lock.lock();
  shared->has_ended = true;
  shared->changed.notify_all();
}

void Undertaker::finish_now(Shared& shared) noexcept {
  Library& library = shared.library;
  Result result = library.finish(shared.communicator);
  const auto until = std::chrono::steady_clock::now() + patience_with_peers;
  while (result == Result::in_progress && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(look_period);
    result = library.state(shared.communicator);
  }
  if (result == Result::success)
    (void)library.destroy(shared.communicator);  // it is freed in any case
  else
    (void)library.abort(shared.communicator);  // never after destroy(), nor destroy() after it
}

}  // namespace parley::nccl
