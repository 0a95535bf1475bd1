// The process that serves the store is no rank, and is killed: the links live on, the store is an error.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"

namespace parley::testing {
namespace {

struct Keeper {
  std::atomic<int> port{0};
  std::atomic<pid_t> pid{0};
};

TEST(StoreLost, LinksLiveOnAndEveryStoreCallSaysSo) {
  const SharedPage<Keeper> keeper;
  const TcpStoreOptions options{.secret = "the secret of this test"};
  const SideProcess server([&] {
    const TcpStoreServer store(options);
    keeper->pid = getpid();
    keeper->port = store.port();
    for (;;) pause();
  });
  const int code = run_ranks(3, [&](int rank, int count) {
    await([&] { return keeper->port != 0; }, "the port of the store");
    forget_environment();
    TcpStoreOptions place = options;
    place.port = static_cast<std::uint16_t>(keeper->port.load());
    InitOptions join;
    join.store = connect_tcp_store(place);
    join.rank = rank;
    join.world_size = count;
    ProcessGroup world = init(join);
    ProcessGroup group = world.dup();
    std::thread waiter([&] { expect_throws<StoreLostError>([&] { (void)join.store->get("never"); }); });
    world.barrier();
    if (rank == 0) kill(keeper->pid, SIGKILL);
    waiter.join();  // the loss was noticed

    for (int round = 0; round < 100; ++round) {
      const std::vector<int> out(static_cast<std::size_t>(1 + round * 1000), rank);
      std::vector<int> in(out.size());
      world.sendrecv(out, (rank + 1) % count, in, any_source);
      expect(in == std::vector<int>(out.size(), (rank + count - 1) % count), "content");
      world.barrier();
      group.barrier();
    }
    const auto begin = now();
    expect_throws<StoreLostError>([&] { join.store->set_string("key", "value"); });
    expect_throws<StoreLostError>([&] { (void)join.store->get("never"); });
    expect_throws<StoreLostError>([&] { (void)join.store->add("n", 1); });
    expect_throws<StoreLostError>([&] { (void)join.store->append("key", {}); });
    expect_throws<StoreLostError>([&] { (void)join.store->key_count(); });
    expect_throws<StoreLostError>([&] { (void)make_prefix_store(join.store, "part")->get("never"); });
    expect_throws<StoreLostError>([&] { (void)world.dup(); });
    expect_throws<StoreLostError>([&] { (void)group.split(rank); });
    world.barrier();
    destroy();
    expect_throws<StoreLostError>([&] { init(join); });  // a new world needs it
    expect(now() - begin < std::chrono::seconds(30) * slowness(), "nobody waits for what is gone");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
