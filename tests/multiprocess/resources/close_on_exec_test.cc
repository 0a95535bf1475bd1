// Programs that a rank starts inherit none of a world's descriptors.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/asio.h>
#include <parley/parley.h>

#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tests/multiprocess/resources/inventory.h"
#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

void expect_close_on_exec(const std::set<int>& before, const std::string& when) {
  std::size_t of_the_world = 0;
  for (const int fd : open_descriptors()) {
    const int flags = fcntl(fd, F_GETFD);
    // The store's thread may have closed a connection since.
    if (before.contains(fd) || (flags < 0 && errno == EBADF)) continue;
    ++of_the_world;
    expect((flags & FD_CLOEXEC) != 0,
           when + ": descriptor " + std::to_string(fd) + " (" + name_of_descriptor(fd) + ")");
  }
  expect(of_the_world >= 4, when + ": a world has a listener, links and a reactor");
}

// Rank 0 holds the store's listener and connections, too.
TEST(Descriptors, OfAWorldAreCloseOnExec) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    const std::set<int> before = open_descriptors();
    ProcessGroup world = join(address, rank, count);
    world.barrier();
    expect_close_on_exec(before, "after init()");
    const int next = (rank + 1) % count;
    const int previous = (rank + count - 1) % count;
    std::vector<std::byte> out(std::size_t{1} << 20), in(out.size());
    Work received = world.irecv(in, previous);
    expect_close_on_exec(before, "with the background thread");
    world.send(out, next);
    received.wait();
    world.barrier();
    expect_close_on_exec(before, "after messages");
  });
  EXPECT_EQ(code, 0);
}

// As Asio's own descriptors are.
TEST(Descriptors, OfAnAsioLoopAreCloseOnExec) {
  const int code = run_ranks(2, [](int, int) {
    const std::set<int> before = open_descriptors();
    ProcessGroup world = init();
    asio::io_context context;
    const AsioProgress progress(context, world);
    context.poll();
    expect_close_on_exec(before, "with AsioProgress");
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

TEST(Descriptors, OfAWorldOfTheLauncherAreCloseOnExec) {
  const int code = run_ranks(2, [](int, int) {
    const std::set<int> before = open_descriptors();
    ProcessGroup world = init();
    world.barrier();
    expect_close_on_exec(before, "after init()");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
