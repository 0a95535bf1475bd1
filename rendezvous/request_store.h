#pragma once

#include <parley/store.h>

#include <string>

#include "rendezvous/store_limits.h"
#include "rendezvous/store_request.h"
#include "transport/base/fork_guard.h"
#include "transport/base/result.h"

namespace parley::rendezvous {

// The Store interface over one method that carries out a request: arguments, limits, and the words of errors
// are the same for every store. Thread-safety: as call().
class RequestStore : public Store {
 public:
  void set(std::string_view key, std::span<const std::byte> value, Timeout timeout) final;
  Value get(std::string_view key, Timeout timeout) final;
  std::int64_t add(std::string_view key, std::int64_t delta, Timeout timeout) final;
  std::size_t append(std::string_view key, std::span<const std::byte> value, Timeout timeout) final;
  Value compare_set(std::string_view key, std::span<const std::byte> expected,
                    std::span<const std::byte> desired, Timeout timeout) final;
  bool check(std::span<const std::string> keys, Timeout timeout) final;
  void wait(std::span<const std::string> keys, Timeout timeout) final;
  bool remove(std::string_view key, Timeout timeout) final;
  std::vector<Value> multi_get(std::span<const std::string> keys, Timeout timeout) final;
  void multi_set(std::span<const std::string> keys, std::span<const Value> values, Timeout timeout) final;
  std::size_t key_count(std::string_view prefix, Timeout timeout) final;

  // The host whose process keeps the store, as the caller named it; empty for this process.
  [[nodiscard]] virtual std::string keeper() const = 0;

 protected:
  explicit RequestStore(const TableLimits& limits) : limits_(limits) {}

  // Returns the reply by about `request.timeout` from now. Fails with `timed_out` when the store's host gave
  // no answer, else the host is lost; the message completes "store get: ...".
  virtual base::Result<Reply> call(const Request& request) = 0;
  // Host and port of the keeper, for errors; empty for this process.
  [[nodiscard]] virtual std::string host() const = 0;

  [[nodiscard]] bool in_forked_child() const noexcept { return fork_guard_.in_child(); }
  [[nodiscard]] const TableLimits& limits() const noexcept { return limits_; }

 private:
  // The reply, with status ok; everything else is thrown.
  Reply perform(Request request, Timeout timeout);

  const TableLimits limits_;
  const base::ForkGuard fork_guard_;
};

}  // namespace parley::rendezvous
