#include "rendezvous/memory_store.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "rendezvous/request_store.h"
#include "rendezvous/store_service.h"
#include "rendezvous/store_table.h"
#include "transport/base/deadline.h"

namespace parley::rendezvous {
namespace {

class MemoryStore final : public RequestStore {
 public:
  explicit MemoryStore(const TableLimits& limits) : RequestStore(limits), table_(limits) {}
  [[nodiscard]] std::string keeper() const override { return {}; }

 private:
  // One caller's place to sleep. Lies on its stack; the table refers to it while the wait is registered.
  struct Caller {
    std::optional<Reply> reply;
    std::condition_variable answered;
  };

  base::Result<Reply> call(const Request& request) override {
    const auto deadline = base::Deadline::after(request.timeout);
    Caller caller;
    std::unique_lock lock(mutex_);
    const auto wait = execute(table_, request, deadline, [&caller](StoreTable::WaitId, Reply reply) {
      caller.reply = std::move(reply);
      caller.answered.notify_one();
    });
    try {
      while (!caller.reply) sleep(lock, caller, deadline);
    } catch (...) {
      table_.cancel(wait);
      throw;
    }
    return *std::move(caller.reply);
  }

  void sleep(std::unique_lock<std::mutex>& lock, Caller& caller, base::Deadline deadline) {
    if (deadline.is_never())
      caller.answered.wait(lock);
    else if (caller.answered.wait_until(lock, deadline.when()) == std::cv_status::timeout)
      table_.expire(base::Clock::now());
  }

  [[nodiscard]] std::string host() const override { return {}; }

  std::mutex mutex_;
  StoreTable table_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<Store> make_memory_store(const TableLimits& limits) {
  return std::make_shared<MemoryStore>(limits);
}

}  // namespace parley::rendezvous
