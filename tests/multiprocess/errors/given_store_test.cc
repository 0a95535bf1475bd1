// init() with a store that the program brings: where the ranks then can be reached.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

// The store that spawn() serves.
std::shared_ptr<Store> launcher_store() {
  TcpStoreOptions place;
  place.host = std::getenv("MASTER_ADDR");
  place.port = static_cast<std::uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
  return connect_tcp_store(place);
}

InitOptions with_store(std::shared_ptr<Store> store, int rank, int count) {
  InitOptions options;
  options.store = std::move(store);
  options.rank = rank;
  options.world_size = count;
  return options;
}

void expect_link_address(ProcessGroup world, std::string_view address) {
  world.barrier();
  expect_contains(world.describe(), address);
  world.barrier();  // who leaves has no link any more
}

// One host has better links, which tell no address.
const RanksOptions over_tcp{.environment = {{"PARLEY_TRANSPORTS", "tcp"}}};

TEST(GivenStore, TheRanksListenWhereTheirStoreIsReached) {
  const SharedPage<std::atomic<int>> port;
  const int code = run_ranks(
      2,
      [&](int rank, int count) {
        forget_environment();
        std::optional<TcpStoreServer> server;
        TcpStoreOptions place{.host = "::1"};
        if (rank == 0) *port = server.emplace(place).port();
        await([&] { return *port != 0; }, "the port of the store");
        place.port = static_cast<std::uint16_t>(port->load());
        ProcessGroup world = init(with_store(connect_tcp_store(place), rank, count));
        expect_link_address(world, "tcp [::1]:");
        if (rank == 0) {
          world.recv<int>(1);  // the server stays until rank 1 needs it no more
        } else {
          world.send(1, 0);
        }
      },
      over_tcp);
  EXPECT_EQ(code, 0);
}

// A store of a class that Parley does not know.
class ForeignStore final : public Store {
 public:
  explicit ForeignStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}
  void set(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    inner_->set(key, value, timeout);
  }
  Value get(std::string_view key, Timeout timeout) override { return inner_->get(key, timeout); }
  std::int64_t add(std::string_view key, std::int64_t delta, Timeout timeout) override {
    return inner_->add(key, delta, timeout);
  }
  Value compare_set(std::string_view key, std::span<const std::byte> expected,
                    std::span<const std::byte> desired, Timeout timeout) override {
    return inner_->compare_set(key, expected, desired, timeout);
  }
  std::size_t append(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    return inner_->append(key, value, timeout);
  }
  bool check(std::span<const std::string> keys, Timeout timeout) override {
    return inner_->check(keys, timeout);
  }
  void wait(std::span<const std::string> keys, Timeout timeout) override { inner_->wait(keys, timeout); }
  bool remove(std::string_view key, Timeout timeout) override { return inner_->remove(key, timeout); }
  std::vector<Value> multi_get(std::span<const std::string> keys, Timeout timeout) override {
    return inner_->multi_get(keys, timeout);
  }
  void multi_set(std::span<const std::string> keys, std::span<const Value> values, Timeout timeout) override {
    inner_->multi_set(keys, values, timeout);
  }
  std::size_t key_count(std::string_view prefix, Timeout timeout) override {
    return inner_->key_count(prefix, timeout);
  }

 private:
  std::shared_ptr<Store> inner_;
};

TEST(GivenStore, OfAnUnknownClassNeedsAnAddressToBeToldAndSaysSo) {
  const int code = run_ranks(
      2,
      [](int rank, int count) {
        const auto store = std::make_shared<ForeignStore>(launcher_store());
        forget_environment();
        InitOptions options = with_store(store, rank, count);
        if (rank == 0) {  // a refusal is no call that rank 1 would have to match
          const std::string text = expect_throws<UsageError>([&] { init(options); }).what();
          expect_contains(text, "InitOptions::host or PARLEY_HOST");
        }
        options.host = "::1";
        expect_link_address(init(options), "tcp [::1]:");
        options.host.clear();
        setenv("PARLEY_HOST", "127.0.0.1", 1);
        expect_link_address(init(options), "127.0.0.1");
      },
      over_tcp);
  EXPECT_EQ(code, 0);
}

TEST(GivenStore, AWorldOfOneNeedsNoAddress) {
  const int code = run_ranks(1, [](int, int) {
    const auto foreign = std::make_shared<ForeignStore>(launcher_store());
    forget_environment();
    for (const std::shared_ptr<Store>& store : {std::shared_ptr<Store>(foreign), make_memory_store()})
      init(with_store(store, 0, 1)).barrier();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
