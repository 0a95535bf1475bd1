#include "tests/simulated_device/events.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace parley::cuda::testing {
namespace {

class LocalEvent final : public SimulatedEvent {
 public:
  std::function<void()> record() override {
    auto reached = std::make_shared<std::atomic<bool>>(false);
    const std::lock_guard lock(mutex_);
    latest_ = reached;
    // release: who sees it reached sees what the stream did before. Pairs with captured().
    return [reached] { reached->store(true, std::memory_order_release); };
  }
  [[nodiscard]] std::function<bool()> captured() const override {
    const std::lock_guard lock(mutex_);
    if (!latest_) return [] { return true; };
    return [reached = latest_] { return reached->load(std::memory_order_acquire); };
  }
  Code make_handle(int, EventHandle&) const override { return Code::invalid_value; }

 private:
  mutable std::mutex mutex_;  // guards latest_
  std::shared_ptr<const std::atomic<bool>>
      latest_;  // whether the latest record was reached; null: there is none
};

// What processes share of an event. Both only grow.
struct Counters {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> reached{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

// The page, mapped. A memfd is zero at first, as Counters is.
class Page {
 public:
  explicit Page(base::UniqueFd fd)
      : fd_(std::move(fd)),
        memory_(mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0)) {}
  ~Page() {
    if (is_mapped()) munmap(memory_, sizeof(Counters));
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  [[nodiscard]] bool is_mapped() const noexcept { return memory_ != MAP_FAILED; }
  [[nodiscard]] Counters& counters() const noexcept { return *static_cast<Counters*>(memory_); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  base::UniqueFd fd_;
  void* memory_;
};

void raise_to(std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  std::uint64_t now = counter.load(std::memory_order_relaxed);  // relaxed: the exchange looks again
  while (now < value) {
    // release: who sees the number sees what the stream did before. Pairs with captured().
    if (counter.compare_exchange_weak(now, value, std::memory_order_release, std::memory_order_relaxed))
      return;
  }
}

class SharedEvent final : public SimulatedEvent {
 public:
  SharedEvent(std::shared_ptr<Page> page, bool is_imported)
      : page_(std::move(page)), is_imported_(is_imported) {}

  std::function<void()> record() override {
    // relaxed: a message tells others that it was recorded, and orders that.
    const std::uint64_t number = page_->counters().recorded.fetch_add(1, std::memory_order_relaxed) + 1;
    return [page = page_, number] { raise_to(page->counters().reached, number); };
  }
  [[nodiscard]] std::function<bool()> captured() const override {
    const std::uint64_t number =
        page_->counters().recorded.load(std::memory_order_relaxed);  // as in record()
    return [page = page_, number] {
      return page->counters().reached.load(std::memory_order_acquire) >= number;  // pairs with raise_to()
    };
  }
  Code make_handle(int physical_device, EventHandle& handle) const override {
    if (is_imported_) return Code::invalid_value;
    handle.bytes = seal({.kind = Export::Kind::event, .physical_device = physical_device}, page_->fd());
    return Code::ok;
  }

 private:
  const std::shared_ptr<Page> page_;
  const bool is_imported_;
};

}  // namespace

std::unique_ptr<SimulatedEvent> make_local_event() {
  return std::make_unique<LocalEvent>();
}

std::unique_ptr<SimulatedEvent> make_shared_event() {
  base::UniqueFd fd(memfd_create("simulated event", MFD_CLOEXEC));
  if (!fd || ftruncate(fd.get(), sizeof(Counters)) != 0) return nullptr;
  auto page = std::make_shared<Page>(std::move(fd));
  if (!page->is_mapped()) return nullptr;
  return std::make_unique<SharedEvent>(std::move(page), false);
}

Code import_shared_event(const EventHandle& handle, std::unique_ptr<SimulatedEvent>& event) {
  Export what;
  base::UniqueFd fd;
  if (const Code code = unseal(handle.bytes, Export::Kind::event, what); code != Code::ok) return code;
  if (const Code code = open_export(what, fd); code != Code::ok) return code;
  auto page = std::make_shared<Page>(std::move(fd));
  if (!page->is_mapped()) return Code::map_failed;
  event = std::make_unique<SharedEvent>(std::move(page), true);
  return Code::ok;
}

}  // namespace parley::cuda::testing
