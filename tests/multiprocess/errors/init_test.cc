// All ways to begin and to end.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Every rank hears from every other, and all are on this host.
void expect_works(ProcessGroup world) {
  expect_equal(world.local_rank(), world.rank(), "local rank");
  for (int other = 0; other < world.size(); ++other) {
    int got = -1;
    const int own = world.rank();
    world.sendrecv(std::span(&own, 1), other, std::span(&got, 1), other);
    expect_equal(got, other, "a rank's number");
  }
}

TEST(Init, TwiceIsAClearError) {
  const int code = run_ranks(2, [](int, int) {
    expect(!is_initialized(), "no world at first");
    ProcessGroup world = init();
    expect(is_initialized(), "a world");
    expect_contains(expect_throws<UsageError>([] { init(); }).what(), "twice");
    expect_works(world);
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WorksAgainAfterDestroy) {
  const int code = run_ranks(2, [](int rank, int) {
    for (int round = 0; round < 20; ++round) {
      ProcessGroup world = init();
      expect_works(world);
      if (round % 2 == 0) {
        destroy();
        expect(!is_initialized(), "no world after destroy()");
        expect_throws<UsageError>([&] { world.send(1, 1 - rank); });
        destroy();  // does nothing
      }             // else the last handle does it
    }
    expect(!is_initialized(), "no world at the end");
  });
  EXPECT_EQ(code, 0);
}

// destroy() ends what is pending and so runs its completion functions.
TEST(Init, ACompletionFunctionMayAskForTheWorldThatIsBeingLeft) {
  const int code = run_ranks(1, [](int, int) {
    ProcessGroup world = init();
    std::string told;
    int value = 0;
    Work pending = world.irecv(value, 0);
    pending.then([&](std::exception_ptr) {
      told = is_initialized() ? "a world" : "no world";
      destroy();  // does nothing
      try {
        init();
      } catch (const UsageError& error) {
        told += std::string(", ") + error.what();
      }
    });
    destroy();
    expect_contains(told, "no world, init() was called before destroy() had returned");
    world = init();
    expect_works(world);
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, APendingOperationKeepsTheWorld) {
  const int code = run_ranks(2, [](int rank, int) {
    int got = 0;
    {
      ProcessGroup world = init();
      Work pending = world.irecv(got, 1 - rank, {.tag = 5});
      expect_works(world);
      world = {};
      expect(is_initialized(), "the world, for the pending receive");
      expect_contains(expect_throws<UsageError>([] { init(); }).what(), "twice");
      destroy();
      expect_throws<Error>([&] { pending.wait(); });
    }
    expect(!is_initialized(), "no world");
    ProcessGroup again = init();
    expect_works(again);
  });
  EXPECT_EQ(code, 0);
}

// Rank 0 takes its time, and has to get all that rank 1 sent before it ended its process.
void receive_late(ProcessGroup world, std::size_t bytes) {
  std::this_thread::sleep_for(300ms);
  std::vector<int> in(bytes / sizeof(int));
  world.recv(in, 1, {.tag = 1});
  expect(in == std::vector<int>(in.size(), 7), "all that was sent");
}

void send_large(ProcessGroup& world, std::size_t bytes) {
  const auto out = std::make_shared<std::vector<int>>(bytes / sizeof(int), 7);
  world.isend(*out, 0, {.tag = 1}).detach(out);
}

constexpr std::size_t more_than_sockets_hold = 64 << 20;

TEST(Init, TheEndOfTheProcessWaitsForAThreadInDestroy) {
  const int code = run_ranks(2, [](int rank, int) {
    static auto& world = *new ProcessGroup(init());  // not dropped by exit()
    if (rank == 0) return receive_late(world, more_than_sockets_hold);
    send_large(world, more_than_sockets_hold);
    std::thread([] { destroy(); }).detach();
    while (is_initialized()) std::this_thread::yield();
    std::exit(0);
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, TheEndOfTheProcessWaitsForAWorldWhoseLastHandleACompletionFunctionDropped) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    if (rank == 0) {
      world.send(1, 1);
      return receive_late(world, more_than_sockets_hold);
    }
    send_large(world, more_than_sockets_hold);
    static int start = 0;
    Work received = world.irecv(start, 0);
    auto last = std::make_shared<ProcessGroup>(std::move(world));
    received.then([last = std::move(last)](const std::exception_ptr&) mutable { last.reset(); });
    received.detach(nullptr);
    while (is_initialized()) std::this_thread::sleep_for(1ms);  // the background thread calls the function
    std::exit(0);
  });
  EXPECT_EQ(code, 0);
}

// The lock below is_initialized() is free while a thread joins or leaves, which may last long. Here it lasts
// as long as a completion function, if the thread that leaves is the one that calls it.
bool leave_while_another_thread_asks() {
  ProcessGroup world = init();
  std::promise<bool> leaving;
  std::promise<void> asked;
  std::thread other([&] {
    const bool lasts = leaving.get_future().get();
    if (lasts) {
      expect(!is_initialized(), "no world");
      destroy();  // another thread is at it
      expect_contains(expect_throws<UsageError>([] { init(); }).what(), "before destroy() had returned");
    }
    asked.set_value();
  });
  int value = 0;
  bool lasted = false;
  std::future_status answer{};
  const auto called = std::make_shared<std::promise<void>>();  // its last act may come after our wake-up
  Work pending = world.irecv(value, 0);
  pending.then([&, called, leaver = std::this_thread::get_id()](std::exception_ptr) {
    lasted = std::this_thread::get_id() == leaver;
    leaving.set_value(lasted);
    answer = asked.get_future().wait_for(20s * slowness());
    called->set_value();
  });
  destroy();
  called->get_future().wait();
  other.join();
  expect(answer == std::future_status::ready, "the other thread got its answers while the world was left");
  return lasted;
}

TEST(Init, OtherThreadsAreNotHeldUpWhileAWorldIsLeft) {
  const int code = run_ranks(1, [](int, int) {
    int attempts = 0;
    while (!leave_while_another_thread_asks()) expect(++attempts < 100, "a thread that leaves for long");
    ProcessGroup world = init();
    expect_works(world);
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, AThreadThatJoinsHoldsUpNobodyAndIsAlone) {
  const std::string address = free_address();
  const int code = run_ranks(1, [&](int, int) {
    forget_environment();
    const std::string_view refusal = "the first call has not returned yet";
    const auto refused = [&](const InitOptions& options) {
      return std::string_view(expect_throws<Error>([&] { init(options); }).what()).find(refusal) !=
             std::string_view::npos;
    };
    std::atomic<bool> over{false};
    std::thread joining([&] {
      // Rank 1 never comes.
      const InitOptions options{.method = address, .rank = 0, .world_size = 2, .init_timeout = 2s};
      while (refused(options)) continue;  // by the calls below
      over = true;
    });
    bool told = false;
    while (!told && !over) {
      expect(!is_initialized(), "no world");
      told = refused({.method = "none"});
    }
    joining.join();
    expect(told, "refused while the other thread was joining");
    expect_works(init());
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, NamesEachMissingVariable) {
  const int code = run_ranks(1, [](int, int) {
    const char* names[] = {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"};
    for (const char* name : names) {
      const std::string value = std::getenv(name);
      unsetenv(name);
      const auto error = expect_throws<UsageError>([] { init(); });
      expect_contains(error.what(), std::string("not set: ") + name);
      setenv(name, value.c_str(), 1);
    }
    unsetenv("MASTER_PORT");
    unsetenv("RANK");
    expect_contains(expect_throws<UsageError>([] { init(); }).what(), "not set: MASTER_PORT, RANK");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WithoutAnEnvironmentIsAWorldOfOne) {
  const int code = run_ranks(2, [](int, int) {
    forget_environment();
    ProcessGroup world = init();
    expect_equal(world.size(), 1, "size");
    expect_equal(world.rank(), 0, "rank");
    world.barrier();
    expect_works(world);
    std::vector<std::uint8_t> out(3'000'000, 7), in(out.size());
    expect_equal(world.sendrecv(out, 0, in, any_source).bytes, out.size(), "bytes");
    expect(in == out, "content");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, ByAnAddressThatRank0Serves) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    forget_environment();
    for (int round = 0; round < 2; ++round) {
      ProcessGroup world = join(address, rank, count);
      expect_equal(world.rank(), rank, "rank");
      expect_works(world);
      world.barrier();
      if (round == 1) break;
      destroy();
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, WithAGivenStore) {
  const int code = run_ranks(3, [](int rank, int count) {
    TcpStoreOptions place;
    place.host = std::getenv("MASTER_ADDR");
    place.port = static_cast<std::uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
    place.secret = std::getenv("PARLEY_SECRET");
    forget_environment();
    InitOptions options;
    options.store = connect_tcp_store(place);
    expect_throws<UsageError>([&] { init(options); });  // who are we?
    options.rank = rank;
    options.world_size = count;
    for (int round = 0; round < 2; ++round) {
      ProcessGroup world = init(options);
      expect_works(world);
      world.barrier();
    }
    options.store->set_string("afterwards/" + std::to_string(rank), "the store is still ours");
  });
  EXPECT_EQ(code, 0);
}

TEST(Init, AWrongSecretIsRefusedAtOnceAndTheMissingRankNamed) {
  const int code = run_ranks(3, [](int rank, int) {
    InitOptions options;
    options.init_timeout = 60s;
    const auto begin = std::chrono::steady_clock::now();
    if (rank == 1) {
      options.secret = "not the job's";
      expect_contains(expect_throws<StoreError>([&] { init(options); }).what(), "secret");
      expect(std::chrono::steady_clock::now() - begin < 30s, "refused long before the timeout");
    } else {
      options.init_timeout = 2s;
      const auto error = expect_throws<InitError>([&] { init(options); });
      expect_contains(error.what(), "missing ranks: 1; joined: 0, 2");
    }
    expect(!is_initialized(), "no world");
  });
  EXPECT_EQ(code, 0);
}

// The store of rank 0 stays until the others have left, and their links outlive their use of it.
TEST(Init, Rank0MayLeaveFirst) {
  const std::string address = free_address();
  const int code = run_ranks(3, [&](int rank, int count) {
    forget_environment();
    ProcessGroup world =
        init(address + "?rank=" + std::to_string(rank) + "&world_size=" + std::to_string(count));
    if (rank == 0) return;
    const auto error = expect_throws<PeerLeftError>([&] { world.recv<int>(0); });
    expect_equal(error.details().culprit, 0, "culprit");
    int got = -1;
    world.sendrecv(std::span(&rank, 1), 3 - rank, std::span(&got, 1), 3 - rank);
    expect_equal(got, 3 - rank, "the others go on");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
