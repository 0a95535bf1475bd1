// fork() in a process that uses Parley: the child gets a clear error, the parent notices nothing.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

// What a forked child tries; everything but leaving is refused.
void try_everything(ProcessGroup& world, Work& pending, int other) {
  std::vector<int> data(4);
  expect_contains(expect_throws<ForkedError>([&] { world.send(data, other); }).what(), "forked child");
  expect_throws<ForkedError>([&] { world.recv(data, other); });
  expect_throws<ForkedError>([&] { (void)world.isend(data, other); });
  expect_throws<ForkedError>([&] { (void)world.irecv(data, other); });
  expect_throws<ForkedError>([&] { (void)world.iprobe(other); });
  expect_throws<ForkedError>([&] { world.barrier(); });
  expect_throws<ForkedError>([&] { world.abort("in the child"); });
  expect_throws<ForkedError>([&] { (void)world.progress(); });
  expect_throws<ForkedError>([&] { pending.wait(); });
  expect_throws<ForkedError>([&] { (void)pending.test(); });
}

int run_child(ProcessGroup world, Work pending, int other) {
  try {
    try_everything(world, pending, other);
    destroy();  // leaves the parent's world alone
    world = ProcessGroup();
    pending = Work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forked child: %s\n", error.what());
    return 1;
  }
}

void expect_child_passes(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) expect(errno == EINTR, "waitpid");
  expect(WIFEXITED(status), "the child ended by itself");
  expect_equal(WEXITSTATUS(status), 0, "the child's exit code");
}

TEST(Fork, AChildGetsForkedErrorAndTheParentGoesOn) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    const int other = 1 - rank;
    std::vector<int> out(200'000, rank), in(200'000);
    for (int round = 0; round < 5; ++round) {
      int late = 0;
      Work pending = world.irecv(std::span(&late, 1), other, {.tag = 9});
      const pid_t child = fork();
      if (child == 0) _exit(run_child(std::move(world), std::move(pending), other));
      for (int i = 0; i < 10; ++i) world.sendrecv(out, other, in, other);
      expect_equal(in.back(), other, "received while the child lives");
      world.send(round, other, {.tag = 9});
      pending.wait();
      expect_equal(late, round, "received by the operation that was pending at the fork");
      expect_child_passes(child);
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
