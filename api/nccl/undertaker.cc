#include "api/nccl/undertaker.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "api/collective/end_reason.h"
#include "transport/base/log.h"

namespace parley::nccl {

using namespace std::chrono_literals;
using collective::words;

namespace {
constexpr auto patience_of_destructor = 1s;
constexpr auto look_period = 1ms;

void warn(std::string_view text) noexcept {
  if (base::log_enabled(LogLevel::warn, "cuda")) base::log_line(LogLevel::warn, "cuda", text);
}
}  // namespace

// Invariants: (1) `asked`, `is_dropped` and `has_ended` only ever turn true; (2) what was asked for does not
// change afterwards; (3) `asked` turns true under the engine's lock, so that `is_idle` is not called after
// it; (4) the part does not change while the thread splits. The thread holds this, too.
struct Undertaker::Shared final : wireup::DeviceWork {
  Shared(Library& of_library, cuda::Api& of_api, int on_device, std::function<bool()> asked_before,
         std::chrono::milliseconds longest) noexcept
      : library(of_library),
        api(of_api),
        device(on_device),
        is_idle(std::move(asked_before)),
        patience(longest) {}
  Library& library;
  cuda::Api& api;
  const int device;
  const std::function<bool()> is_idle;
  const std::chrono::milliseconds patience;
  Communicator child = nullptr;  // see split(): of whoever may call something for the communicator

  // Whoever is asked may ask for an end: not with the mutex.
  bool is_done() noexcept override {
    {
      const std::lock_guard lock(mutex);
      if (asked) return has_ended || !has_work;
    }
    return is_idle();
  }

  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  Communicator communicator = nullptr;
  Division part;          // of the split that is to be begun
  std::string part_name;  // as it says
  bool must_split = false;
  std::optional<Result> split_result;
  Manner manner = Manner::finish;
  bool has_work = false;
  std::chrono::steady_clock::time_point end_of_patience;  // counted from when it was asked for
  bool asked = false;
  bool is_dropped = false;  // nobody will ask any more
  bool has_ended = false;
};

Undertaker::Undertaker(Library& library, cuda::Api& api, int device, std::function<bool()> is_idle,
                       std::chrono::milliseconds patience)
    : shared_(std::make_shared<Shared>(library, api, device, std::move(is_idle), patience)) {
  std::thread([shared = shared_] { main(shared); }).detach();
}

Undertaker::~Undertaker() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_dropped = true;
  shared_->changed.notify_all();
  if (shared_->changed.wait_for(lock, patience_of_destructor, [this] { return shared_->has_ended; })) return;
  warn("an NCCL communicator has not ended within a second; a thread goes on with that");
}

void Undertaker::abort(Communicator communicator) noexcept {
  ask(communicator, Manner::abort, false);
}

void Undertaker::finish(Communicator communicator, bool has_work) noexcept {
  ask(communicator, Manner::finish, has_work);
}

void Undertaker::split(Communicator communicator, const Division& part) noexcept {
  const std::lock_guard lock(shared_->mutex);
  shared_->communicator = communicator;
  shared_->part_name = words([&] { return std::string(part.name); });
  shared_->part = {.color = part.color, .key = part.key, .name = shared_->part_name.c_str()};
  shared_->must_split = true;
  shared_->split_result.reset();
  shared_->changed.notify_all();
}

std::optional<Result> Undertaker::split_result() const noexcept {
  const std::lock_guard lock(shared_->mutex);
  return shared_->split_result;
}

Communicator Undertaker::take_child() noexcept {
  return std::exchange(shared_->child, nullptr);
}

std::shared_ptr<wireup::DeviceWork> Undertaker::work() const noexcept {
  return shared_;
}

void Undertaker::ask(Communicator communicator, Manner manner, bool has_work) noexcept {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->asked) return;
  shared_->asked = true;
  shared_->communicator = communicator;
  shared_->manner = manner;
  shared_->has_work = has_work;
  shared_->end_of_patience = std::chrono::steady_clock::now() + shared_->patience;
  shared_->changed.notify_all();
}

void Undertaker::main(const std::shared_ptr<Shared>& shared) noexcept {
  std::unique_lock lock(shared->mutex);
  const auto is_over = [&] { return shared->asked || shared->is_dropped; };
  for (;;) {
    shared->changed.wait(lock, [&] { return is_over() || shared->must_split; });
    if (is_over()) break;
    shared->must_split = false;
    Communicator const communicator = shared->communicator;  // who asks for the end writes it again
    lock.unlock();
    const Result result = split_now(*shared, communicator);
    lock.lock();
    shared->split_result = result;
  }
  const bool has_work = shared->asked && shared->communicator != nullptr;
  lock.unlock();
  if (has_work) {
    const cuda::DeviceScope scope(shared->api, shared->device);
    if (shared->manner == Manner::finish)
      finish_now(*shared);
    else
      (void)shared->library.abort(shared->communicator);  // there is nobody to be told
    if (shared->child != nullptr) (void)shared->library.abort(shared->child);
  }
  lock.lock();
  shared->has_ended = true;
  shared->changed.notify_all();
}

Result Undertaker::split_now(Shared& shared, Communicator communicator) noexcept {
  const cuda::DeviceScope scope(shared.api, shared.device);
  return shared.library.split(communicator, shared.part, shared.child);
}

void Undertaker::finish_now(Shared& shared) noexcept {
  Library& library = shared.library;
  Result result = library.finish(shared.communicator);
  while (result == Result::in_progress && std::chrono::steady_clock::now() < shared.end_of_patience) {
    std::this_thread::sleep_for(look_period);
    result = library.state(shared.communicator);
  }
  if (result == Result::in_progress)
    warn(words([&] {
      return base::concat(
          "an NCCL communicator is aborted, and with it what its device has not done: it has not "
          "ended within ",
          shared.patience.count(), " ms");
    }));
  if (result == Result::success)
    (void)library.destroy(shared.communicator);  // it is freed in any case
  else
    (void)library.abort(shared.communicator);  // never after destroy(), nor destroy() after it
}

}  // namespace parley::nccl
