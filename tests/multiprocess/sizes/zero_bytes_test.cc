// Messages without a byte are messages: matched, ordered, probed, waited for.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

const std::vector<float> nothing;

void exchange_nothing(ProcessGroup& world, bool synchronous) {
  const int other = 1 - world.rank();
  std::vector<float> in(4, 7.0F);
  Work sent = world.isend(nothing, other, {.tag = 5, .synchronous = synchronous});
  const RecvStatus status = world.recv(in, any_source, {.tag = any_tag});
  sent.wait();
  expect_equal(status.bytes, std::size_t{0}, "bytes");
  expect_equal(status.source, other, "source");
  expect_equal(status.tag, std::int64_t{5}, "tag");
  expect(in == std::vector<float>(4, 7.0F), "the buffer is untouched");

  // Into no room at all, and without an address.
  sent =
      world.isend(Tensor::bytes(static_cast<const void*>(nullptr), 0), other, {.synchronous = synchronous});
  std::vector<float> empty;
  expect_equal(world.recv(empty, other).bytes, std::size_t{0}, "bytes into no room");
  sent.wait();
}

// Each between two that have bytes, with the same tag.
void keep_the_order(ProcessGroup& world, bool synchronous) {
  constexpr int messages = 200;
  const int other = 1 - world.rank();
  std::vector<int> values(messages);
  std::vector<Work> works;
  for (int i = 0; i < messages; ++i) {
    int& value = values[static_cast<std::size_t>(i)] = i;
    works.push_back(world.isend(std::span(&value, i % 2 == 0 ? 1 : 0), other, {.synchronous = synchronous}));
  }
  for (int i = 0; i < messages; ++i) {
    int value = -1;
    const RecvStatus status = world.recv(std::span(&value, 1), other);
    expect_equal(status.bytes, i % 2 == 0 ? sizeof(int) : 0, "bytes");
    expect_equal(value, i % 2 == 0 ? i : -1, "value");
  }
  wait_all(works);
}

void probe_for_nothing(ProcessGroup& world, bool synchronous) {
  if (world.rank() == 0) return world.send(nothing, 1, {.tag = 6, .synchronous = synchronous});
  Message message = world.probe(any_source, {.tag = 6});
  expect_equal(message.bytes(), std::size_t{0}, "bytes");
  expect(message.dtype() == DType::f32, "dtype");
  std::vector<float> in;
  expect_equal(message.recv(in).bytes, std::size_t{0}, "bytes");
}

// A send that waits for its receive does so without bytes, too.
void wait_for_the_receive(ProcessGroup& world) {
  if (world.rank() == 0) {
    Work work = world.isend(nothing, 1, {.tag = 8, .synchronous = true});
    world.sendrecv(nothing, 1, Tensor(), 1);
    expect(!work.test(), "no receive was posted yet");
    world.send(nothing, 1, {.tag = 9});
    work.wait();
  } else {
    world.sendrecv(nothing, 0, Tensor(), 0);
    Tensor none;
    world.recv(none, 0, {.tag = 9});
    world.recv(none, 0, {.tag = 8});
  }
}

void run_all(ProcessGroup& world) {
  for (const bool synchronous : {false, true}) {
    for (int round = 0; round < 20; ++round) exchange_nothing(world, synchronous);
    keep_the_order(world, synchronous);
    probe_for_nothing(world, synchronous);
  }
  wait_for_the_receive(world);
  // To oneself.
  std::vector<float> in(1);
  const RecvStatus status =
      world.sendrecv(nothing, world.rank(), in, any_source, {.send_tag = 3, .recv_tag = 3});
  expect_equal(status.bytes, std::size_t{0}, "bytes from oneself");
  // Something into no room does not fit.
  Work sent = world.isend(Tensor(in), 1 - world.rank());
  std::vector<float> empty;
  expect_throws<TruncationError>([&] { world.recv(empty, 1 - world.rank()); });
  sent.wait();
  world.barrier();
  expect(!world.iprobe(any_source, {.tag = any_tag}), "no message is left");
}

TEST(Sizes, ZeroBytes) {
  const int code = run_ranks(2, [](int, int) {
    ProcessGroup world = init();
    run_all(world);
  });
  EXPECT_EQ(code, 0);
}

// With no eager message at all: everything is offered first.
TEST(Sizes, ZeroBytesWithoutEagerMessages) {
  const int code = run_ranks(2,
                             [](int, int) {
                               ProcessGroup world = init();
                               run_all(world);
                             },
                             {.environment = {{"PARLEY_EAGER_LIMIT", "0"}}});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
