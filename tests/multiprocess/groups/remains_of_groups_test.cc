// Groups come and go, and leave nothing behind: no memory, no descriptor, no thread, no key in the store, and
// no message that a later group could receive.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/flatness.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/support/side_process.h"

namespace parley::testing {
namespace {

// `value`: of no other group.
void use_group(ProcessGroup& group, int value) {
  const int size = group.size();
  const int next = (group.rank() + 1) % size;
  const std::vector<int> out(5'000, value);
  std::vector<int> in(out.size());
  group.send(value, next, {.tag = 1});
  group.send(value, next, {.tag = 2});  // that nobody receives, here or in a later group
  expect_equal(group.recv<int>(any_source, {.tag = any_tag}), value, "what comes first");
  group.sendrecv(out, next, in, (group.rank() + size - 1) % size);
  expect(in == out, "content");
}

TEST(GroupRemains, AThousandGroupsLeaveNothing) {
  const TcpStoreOptions options{.secret = "the secret of this test"};
  const SharedPage<std::atomic<int>> port;
  const SideProcess keeper([&] {
    const TcpStoreServer store(options);
    *port = store.port();
    for (;;) pause();
  });
  const int code = run_ranks(3, [&](int rank, int count) {
    await([&] { return port->load() != 0; }, "the port of the store");
    forget_environment();
    TcpStoreOptions place = options;
    place.port = static_cast<std::uint16_t>(port->load());
    InitOptions join;
    join.store = connect_tcp_store(place);
    join.rank = rank;
    join.world_size = count;
    ProcessGroup world = init(join);
    reach_limits(world);
    Flatness flatness;
    std::size_t keys = 0;
    for (int number = 0; number < 1'100; ++number) {
      if (number == 100) {
        flatness.begin();
        world.barrier();
        keys = join.store->key_count();
        world.barrier();
      }
      if (number % 3 == 0 || rank != 1) {
        ProcessGroup group = number % 3 == 0 ? world.split(0, -rank) : world.new_group({2, 0});
        use_group(group, number);
      }
    }
    world.barrier();
    flatness.expect_as_before();
    expect_equal(join.store->key_count(), keys, "keys in the store");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
