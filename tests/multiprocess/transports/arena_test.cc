// Shared tensors between two ranks: every byte by whichever way, and ranks that die meanwhile.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/transports/scene.h"

namespace parley::testing {
namespace {

constexpr const char* mapped_both_ways = "; it reads our arena; we read its arena";

std::uint8_t content(std::size_t index, int salt) {
  return static_cast<std::uint8_t>(index * 7 + index / 251 + static_cast<std::size_t>(salt) * 13);
}
void fill(const Tensor& tensor, int salt) {
  const auto bytes = tensor.data_as<std::byte>();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(content(i, salt));
}
void expect_content(const Tensor& tensor, int salt) {
  const auto bytes = tensor.data_as<const std::byte>();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(content(i, salt)))
      throw Unexpected("byte " + std::to_string(i) + " of " + std::to_string(bytes.size()));
}

// Sends and receives at once; into private memory, or into a shared tensor.
void exchange(ProcessGroup& world, const Tensor& out, bool is_private) {
  const int other = 1 - world.rank();
  const Tensor in =
      is_private ? Tensor::empty(out.shape(), out.dtype()) : world.shared_tensor(out.shape(), out.dtype());
  fill(out, world.rank());
  in.fill(0);
  world.sendrecv(out, other, in, other);
  expect_content(in, other);
}

void exchange_many(ProcessGroup& world) {
  for (const std::size_t bytes : {0UL, 1UL, 63UL, 4096UL, 65'536UL, 65'537UL, 300'001UL, 5'000'000UL})
    for (const bool is_private : {true, false})
      exchange(world, world.shared_tensor(bytes, DType::u8), is_private);
  const Tensor rows = world.shared_tensor({40, 100'000}, DType::f32);
  for (const auto& part :
       {rows.narrow(0, 3, 5), rows.select(0, 39), rows.reshape(4'000'000).narrow(0, 1, 77'777)})
    exchange(world, part, true);
}

// Until both have mapped what the other sends from.
void exchange_until_mapped(ProcessGroup& world, const Tensor& out) {
  const int other = 1 - world.rank();
  for (int i = 0; i < 1000; ++i) {
    exchange(world, out, true);
    const int is_mapped = world.describe().find(mapped_both_ways) != std::string::npos ? 1 : 0;
    if (world.sendrecv(is_mapped, other, other) == 1 && is_mapped == 1) return;
  }
  throw Unexpected(world.describe());
}

int run_pair(const std::string& transports, const std::function<void(ProcessGroup&)>& rank_main) {
  return run_ranks(2,
                   [&](int, int) {
                     ProcessGroup world = init();
                     rank_main(world);
                     world.barrier();
                   },
                   {.environment = {{"PARLEY_TRANSPORTS", transports}}});
}

TEST(SharedTensor, AllSizesAndPartsArrive) {
  for (const std::string transports : {"shm", "shm,^cma"}) {
    SCOPED_TRACE(transports);
    EXPECT_EQ(run_pair(transports,
                       [](ProcessGroup& world) {
                         exchange_many(world);
                         exchange_until_mapped(world, world.shared_tensor(100'000, DType::u8));
                         exchange_many(world);
                       }),
              0);
  }
}

TEST(SharedTensor, WithoutSharedMemoryItIsATensorLikeOthers) {
  EXPECT_EQ(run_pair("tcp", exchange_many), 0);
}

TEST(SharedTensor, InAWorldOfOneItIsATensorLikeOthers) {
  const int code = run_ranks(1, [](int, int) {
    ProcessGroup world = init();
    const Tensor out = world.shared_tensor({3, 4}), in = world.shared_tensor({3, 4});
    out.fill(2.5);
    world.sendrecv(out, 0, in, 0);
    expect_equal(in.select(0, 2).select(0, 3).item(), 2.5, "the last element");
  });
  EXPECT_EQ(code, 0);
}

TEST(SharedTensor, IsAlignedWritableAndOwning) {
  EXPECT_EQ(run_pair("shm",
                     [](ProcessGroup& world) {
                       for (const std::int64_t count : {0, 1, 1000, 3'000'000}) {
                         const Tensor tensor = world.shared_tensor(count, DType::f64);
                         const auto address = reinterpret_cast<std::uintptr_t>(tensor.data());
                         expect_equal(address % 64, std::uintptr_t{0}, "alignment");
                         expect(tensor.is_owning() && !tensor.is_read_only(), "a tensor of its own");
                         expect_equal(tensor.numel(), static_cast<std::size_t>(count), "elements");
                       }
                       expect_throws<UsageError>([&] { (void)world.shared_tensor({2, -1}); });
                       ProcessGroup none;
                       expect_throws<UsageError>([&] { (void)none.shared_tensor(1); });
                     }),
            0);
}

TEST(SharedTensor, MemoryThatIsLetGoIsUsedAgain) {
  EXPECT_EQ(run_pair("shm",
                     [](ProcessGroup& world) {
                       const std::byte* const first = world.shared_tensor(1 << 20).data();
                       for (int i = 0; i < 100; ++i)
                         expect(world.shared_tensor(1 << 20).data() == first, "other memory");
                       const Tensor part = world.shared_tensor(1 << 20).narrow(0, 5, 10);
                       expect(world.shared_tensor(1 << 20).data() != first, "a part keeps it all");
                     }),
            0);
}

TEST(SharedTensor, OutlivesItsGroup) {
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        std::optional<ProcessGroup> world = init();
        const Tensor mine = world->shared_tensor(1'000'000, DType::u8);
        exchange_until_mapped(*world, mine);
        world.reset();
        destroy();
        expect_content(mine, rank);
        fill(mine, 77);
        expect_content(mine.clone(), 77);
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST(SharedTensor, ThreadsMakeAndSendTheirOwn) {
  EXPECT_EQ(run_pair("shm,^cma",
                     [](ProcessGroup& world) {
                       const int other = 1 - world.rank();
                       constexpr int threads = 3, rounds = 40;
                       std::atomic<int> wrong{0};
                       const auto work = [&](int tag) {
                         for (int i = 0; i < rounds; ++i) {
                           const std::size_t bytes = 70'000U + static_cast<std::size_t>(i) * 10'007U;
                           const Tensor out = world.shared_tensor(bytes, DType::u8);
                           const Tensor in = world.shared_tensor(bytes, DType::u8);
                           fill(out, tag + world.rank());
                           world.sendrecv(out, other, in, other, {.send_tag = tag, .recv_tag = tag});
                           try {
                             expect_content(in, tag + other);
                           } catch (const Unexpected&) {
                             ++wrong;
                           }
                         }
                       };
                       std::vector<std::thread> running;
                       for (int tag = 0; tag < threads; ++tag) running.emplace_back(work, tag);
                       for (std::thread& thread : running) thread.join();
                       expect_equal(wrong.load(), 0, "wrong messages");
                     }),
            0);
}

// The tensor is freed before the message is received: the pending send keeps its memory.
TEST(SharedTensor, APendingSendKeepsTheMemory) {
  EXPECT_EQ(run_pair("shm,^cma",
                     [](ProcessGroup& world) {
                       constexpr std::size_t bytes = 1'000'000;
                       exchange_until_mapped(world, world.shared_tensor(bytes, DType::u8));
                       const int other = 1 - world.rank();
                       Work send;
                       {
                         const Tensor out = world.shared_tensor(bytes, DType::u8);
                         fill(out, world.rank());
                         send = world.isend(out, other);
                       }
                       fill(world.shared_tensor(bytes, DType::u8), 99);
                       world.barrier();
                       const Tensor in = Tensor::empty(bytes, DType::u8);
                       world.recv(in, other);
                       expect_content(in, other);
                       send.wait();
                     }),
            0);
}

constexpr std::size_t long_message = 128 << 20;

// Kills `victim` as soon as the first bytes of a long message have come. That message is whole, or fails.
void receive_while_killing(ProcessGroup& world, pid_t victim) {
  std::vector<unsigned char> data(long_message);
  std::thread killer([&] {
    while (peek(data[0]) == 0) std::this_thread::yield();
    kill(victim, SIGKILL);
  });
  bool is_received = false;
  try {
    world.recv(Tensor(data), 0);
    is_received = true;
  } catch (const PeerDiedError&) {
    is_received = false;
  }
  killer.join();
  const bool is_whole = data == std::vector<unsigned char>(long_message, 1);
  expect(is_whole || !is_received, "a message of a sender that died");
}

TEST(SharedTensor, ASenderThatIsKilledWhileItIsReadIsNamed) {
  const SharedPage<Scene> scene;
  const int code = run_ranks(2,
                             [&](int rank, int) {
                               std::signal(SIGTERM, SIG_IGN);  // of spawn(), when the other is gone
                               ProcessGroup world = init();
                               const Tensor out =
                                   world.shared_tensor(rank == 0 ? long_message : 100'000, DType::u8);
                               exchange_until_mapped(world, out.narrow(0, 0, 100'000));
                               if (rank == 0) {
                                 out.fill(1);
                                 scene->victim = getpid();
                                 world.barrier();
                                 world.send(out, 1);
                                 world.recv<int>(1);  // nothing comes
                                 return;
                               }
                               world.barrier();
                               receive_while_killing(world, scene->victim);
                               const auto error = expect_throws<PeerDiedError>([&] { world.recv<int>(0); });
                               scene->was_named = error.details().culprit == 0;
                             },
                             {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}});
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_TRUE(scene->was_named);
}

TEST(SharedTensor, AReceiverThatIsKilledWhileItReadsIsNamed) {
  const SharedPage<Scene> scene;
  const int code = run_ranks(2,
                             [&](int rank, int) {
                               std::signal(SIGTERM, SIG_IGN);
                               ProcessGroup world = init();
                               const Tensor out =
                                   world.shared_tensor(rank == 0 ? long_message : 100'000, DType::u8);
                               exchange_until_mapped(world, out.narrow(0, 0, 100'000));
                               if (rank == 1) {
                                 receive_while_killing(world, getpid());
                                 return;
                               }
                               out.fill(1);
                               const auto error = expect_throws<PeerDiedError>([&] {
                                 world.send(out, 1);
                                 world.recv<int>(1);
                               });
                               scene->was_named = error.details().culprit == 1;
                               fill(out, 5);  // it is all ours again
                               expect_content(out, 5);
                             },
                             {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}});
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_TRUE(scene->was_named);
}

}  // namespace
}  // namespace parley::testing
