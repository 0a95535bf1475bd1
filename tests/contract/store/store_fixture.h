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
#include <vector>

#include "rendezvous/file_store.h"
#include "rendezvous/memory_store.h"
#include "rendezvous/store_limits.h"
#include "rendezvous/store_server.h"
#include "tests/contract/store/temporary_folder.h"
#include "transport/socket/secure_stream.h"

namespace parley::test {

using namespace std::chrono_literals;

// Long enough for any slow machine; a test that reaches it fails.
inline constexpr std::chrono::seconds patience{60};

inline TcpStoreOptions options_for(std::uint16_t port, bool tls = false) {
  return {.host = "127.0.0.1",
          .port = port,
          .secret = "the secret of the store tests",
          .tls = tls,
          .timeout = patience};
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

enum class StoreKind { memory, tcp, file, prefix, tls };

inline void PrintTo(StoreKind kind, std::ostream* out) {
  constexpr const char* names[] = {"memory", "tcp", "file", "prefix", "tls"};
  *out << names[static_cast<int>(kind)];
}

// `kinds`, and the encrypted store where this build has one.
inline std::vector<StoreKind> with_tls(std::vector<StoreKind> kinds) {
  if (socket::tls_available()) kinds.push_back(StoreKind::tls);
  return kinds;
}

inline std::vector<StoreKind> all_kinds() {
  return with_tls({StoreKind::memory, StoreKind::tcp, StoreKind::file, StoreKind::prefix});
}
// Those that have limits of their own.
inline std::vector<StoreKind> limited_kinds() {
  return with_tls({StoreKind::memory, StoreKind::tcp, StoreKind::file});
}

// One store, and clients of it. A store of one's own kind joins the whole contract suite here.
class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { make({}); }

  // Another, empty store with these limits.
  void make(const rendezvous::TableLimits& limits) {
    first_.reset();
    server_.reset();
    limits_ = limits;
    if (is_served())
      server_ = std::make_unique<rendezvous::StoreServer>(options_for(0, is_encrypted()), limits);
    else
      memory_ = rendezvous::make_memory_store(limits);
    first_ = client();
  }
  // A further client of the store, as another process would have it.
  [[nodiscard]] std::shared_ptr<Store> client() const {
    switch (GetParam()) {
      case StoreKind::memory: return memory_;
      case StoreKind::tcp:
      case StoreKind::tls: return connect_tcp_store(options_for(server_->port(), is_encrypted()));
      case StoreKind::file: return rendezvous::make_file_store(folder_.path() + "/store", limits_);
      case StoreKind::prefix: return make_prefix_store(memory_, "part");
    }
    return nullptr;
  }
  [[nodiscard]] Store& store() const { return *first_; }
  // A key as errors name it.
  [[nodiscard]] static std::string named(std::string key) {
    return (GetParam() == StoreKind::prefix ? "part/" : "") + std::move(key);
  }
  [[nodiscard]] static std::size_t longest_key() { return StoreLimits().key_bytes - named("").size(); }

 private:
  static bool is_encrypted() { return GetParam() == StoreKind::tls; }
  static bool is_served() { return GetParam() == StoreKind::tcp || is_encrypted(); }

  const TemporaryFolder folder_;
  rendezvous::TableLimits limits_;
  std::unique_ptr<rendezvous::StoreServer> server_;
  std::shared_ptr<Store> memory_;
  std::shared_ptr<Store> first_;
};

inline std::string kind_name(const testing::TestParamInfo<StoreKind>& info) {
  return testing::PrintToString(info.param);
}

}  // namespace parley::test
