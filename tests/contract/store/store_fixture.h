#pragma once

#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/store.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "rendezvous/memory_store.h"
#include "rendezvous/store_limits.h"
#include "rendezvous/store_server.h"

namespace parley::test {

using namespace std::chrono_literals;

// Long enough for any slow machine; a test that reaches it fails.
inline constexpr std::chrono::seconds patience{60};

inline TcpStoreOptions options_for(std::uint16_t port) {
  return {.host = "127.0.0.1", .port = port, .secret = "the secret of the store tests", .timeout = patience};
}

inline Store::Value bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string text(const Store::Value& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

// The exception of type E that `action` throws; a failed test and nothing when it throws another or none.
template <typename E>
std::optional<E> thrown(const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  return std::nullopt;
}

// Whether `condition` becomes true within our patience.
inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

enum class StoreKind { memory, tcp };

inline void PrintTo(StoreKind kind, std::ostream* out) {
  *out << (kind == StoreKind::memory ? "memory" : "tcp");
}

// One store, and clients of it. A store of one's own kind joins the whole contract suite here.
class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { make({}); }

  // Another, empty store with these limits.
  void make(const rendezvous::TableLimits& limits) {
    first_.reset();
    server_.reset();
    if (GetParam() == StoreKind::tcp)
      server_ = std::make_unique<rendezvous::StoreServer>(options_for(0), limits);
    else
      memory_ = rendezvous::make_memory_store(limits);
    first_ = client();
  }
  // A further client of the store, as another process would have it.
  [[nodiscard]] std::shared_ptr<Store> client() const {
    return server_ ? connect_tcp_store(options_for(server_->port())) : memory_;
  }
  [[nodiscard]] Store& store() const { return *first_; }

 private:
  std::unique_ptr<rendezvous::StoreServer> server_;
  std::shared_ptr<Store> memory_;
  std::shared_ptr<Store> first_;
};

inline std::string kind_name(const testing::TestParamInfo<StoreKind>& info) {
  return testing::PrintToString(info.param);
}

}  // namespace parley::test
