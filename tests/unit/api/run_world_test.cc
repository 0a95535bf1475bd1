#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace parley {
namespace {

using testing::run_world;
using testing::WorldOptions;

TEST(RunWorld, RanksExchangeAroundARing) {
  std::atomic<int> sum{0};
  run_world(5, [&](ProcessGroup& world) {
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    Work sent = world.isend(Tensor::full({1}, world.rank(), DType::i32), next);
    sum += world.recv<std::int32_t>(previous);
    sent.wait();
    world.barrier();
  });
  EXPECT_EQ(sum, 0 + 1 + 2 + 3 + 4);
}

TEST(RunWorld, SingleValuesTravelInEveryWay) {
  run_world(2, [](ProcessGroup& world) {
    const int other = 1 - world.rank();
    EXPECT_EQ(world.local_rank(), world.rank());
    EXPECT_EQ(world.sendrecv(world.rank(), other, other), other);
    const double out = 0.5 + world.rank();
    double in = 0;
    Work received = world.irecv(in, other, {.tag = 3});
    Work sent = world.isend(out, other, {.tag = 3});
    EXPECT_EQ(received.wait().bytes, sizeof(double));
    sent.wait();
    EXPECT_EQ(in, 0.5 + other);
  });
}

TEST(RunWorld, TextTravelsAsCharactersOrAsBytesButIsNoNumbers) {
  run_world(2, [](ProcessGroup& world) {
    const std::string out = "gr\xc3\xbc\xc3\x9f";
    if (world.rank() == 0) {
      for (int time = 0; time < 4; ++time) world.send(out, 1);
      world.send('x', 1);
    } else {
      std::string text(out.size(), ' ');
      world.recv(text, 0);
      EXPECT_EQ(text, out);
      std::vector<char> letters(out.size());
      world.recv(letters, 0);
      EXPECT_EQ(std::string(letters.begin(), letters.end()), out);
      std::vector<std::uint8_t> bytes(out.size());
      world.recv(bytes, 0);
      EXPECT_EQ(std::string(bytes.begin(), bytes.end()), out);
      std::vector<float> floats(out.size());
      EXPECT_THROW(world.recv(floats, 0), MismatchError);
      EXPECT_EQ(world.recv<char>(0), 'x');
    }
  });
}

TEST(RunWorld, FaultsOfTheLinksChangeNothing) {
  WorldOptions options;
  options.faults = {.seed = 11, .delay = 0.2, .refusal = 0.2, .split = 0.2};
  run_world(
      3,
      [](ProcessGroup& world) {
        std::vector<std::uint8_t> in(300'000);
        for (int round = 0; round < 10; ++round) {
          const std::vector<std::uint8_t> out(in.size(), static_cast<std::uint8_t>(world.rank() + round));
          const int next = (world.rank() + 1) % 3;
          const int previous = (world.rank() + 2) % 3;
          const RecvStatus status = world.sendrecv(out, next, in, previous);
          EXPECT_EQ(status.bytes, in.size());
          EXPECT_EQ(in, std::vector<std::uint8_t>(in.size(), static_cast<std::uint8_t>(previous + round)));
        }
      },
      options);
}

// The receiver's answer waits for a link that refuses it, and the receiver makes no further call.
TEST(RunWorld, WhatACallLeavesBehindGoesOnByItself) {
  WorldOptions options;
  options.faults = {.seed = 12, .refusal = 0.5};
  std::atomic<int> sent{0};
  run_world(
      2,
      [&](ProcessGroup& world) {
        std::vector<std::uint8_t> data(300'000);
        for (int round = 1; round <= 30; ++round) {
          if (world.rank() == 0) {
            world.send(data, 1);
            sent = round;
          } else {
            EXPECT_THROW(world.recv(std::span(data).first(10), 0), TruncationError);
            while (sent < round) std::this_thread::yield();
          }
        }
      },
      options);
}

TEST(RunWorld, ADeadRankIsNamed) {
  for (std::uint64_t packets = 1; packets <= 24; ++packets) {
    SCOPED_TRACE("dead after packets: " + std::to_string(packets));
    WorldOptions options;
    options.faults.dead_rank = 2;
    options.faults.dead_after_packets = packets;
    std::atomic<int> named{0};
    run_world(
        3,
        [&](ProcessGroup& world) {
          try {
            for (int round = 0; round < 1000; ++round) world.barrier();
          } catch (const Error& error) {
            if (world.rank() == 2) return;
            EXPECT_NE(dynamic_cast<const PeerDiedError*>(&error), nullptr) << error.what();
            EXPECT_EQ(error.details().culprit, 2) << error.what();
            ++named;
          }
        },
        options);
    EXPECT_EQ(named, 2);
  }
}

TEST(RunWorld, ATruncatedPacketEndsItsLinkAlone) {
  WorldOptions options;
  options.faults.truncated_rank = 1;
  options.faults.truncated_packet = 3;
  std::atomic<int> ended{0};
  run_world(
      3,
      [&](ProcessGroup& world) {
        std::vector<std::uint8_t> data(20'000);
        if (world.rank() < 2) {
          const auto exchange = [&] {
            if (world.rank() == 0)
              for (int i = 0; i < 1000; ++i) world.send(data, 1, {.synchronous = true});
            else
              for (int i = 0; i < 1000; ++i) world.recv(data, 0);
          };
          try {
            exchange();
          } catch (const Error& error) {
            EXPECT_EQ(error.details().peer, 1 - world.rank()) << error.what();
            ++ended;
          }
        }
        // Both still reach rank 2.
        if (world.rank() == 2) {
          EXPECT_EQ(world.recv<int>(0) + world.recv<int>(1), 1);
        } else {
          world.send(world.rank(), 2);
        }
      },
      options);
  EXPECT_EQ(ended, 2);
}

TEST(RunWorld, ProbedMessagesGoToNobodyElse) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      world.send(std::int32_t{1}, 1, {.tag = 3});
      world.send(std::int32_t{2}, 1, {.tag = 3});
      world.barrier();
      return;
    }
    {
      const Message dropped = world.probe(any_source, {.tag = any_tag});
      EXPECT_EQ(dropped.source(), 0);
      EXPECT_EQ(dropped.tag(), 3);
      EXPECT_EQ(dropped.bytes(), 4U);
      EXPECT_EQ(dropped.dtype(), DType::i32);
    }
    Message first = world.probe(0, {.tag = 3});
    EXPECT_EQ(world.recv<std::int32_t>(0, {.tag = 3}), 2);
    std::int32_t value = 0;
    first.recv(std::span(&value, 1));
    EXPECT_EQ(value, 1);
    EXPECT_FALSE(world.iprobe(0, {.tag = 3}).has_value());
    world.barrier();
    EXPECT_THROW(while (true) world.iprobe(0, {.tag = 3}), PeerLeftError) << "nothing can come any more";
  });
}

TEST(RunWorld, AMessageSurvivesItsAssignmentToItself) {
  run_world(1, [](ProcessGroup& world) {
    world.send(std::int32_t{7}, 0);
    Message message = world.probe(0);
    Message& same = message;
    message = std::move(same);
    EXPECT_FALSE(world.iprobe(0).has_value()) << "still held";
    std::int32_t value = 0;
    message.recv(std::span(&value, 1));
    EXPECT_EQ(value, 7);
  });
}

// At once, for the operation had ended, and later, by whoever makes progress.
TEST(RunWorld, WhatACompletionFunctionThrowsIsLogged) {
  std::vector<std::string> lines;
  set_log_sink([&](const LogRecord& record) { lines.emplace_back(record.message); });
  run_world(1, [](ProcessGroup& world) {
    std::int32_t value = 0;
    for (const bool early : {true, false}) {
      Work work = world.irecv(value, 0);
      if (!early) world.send(std::int32_t{1}, 0);
      work.then([early](std::exception_ptr) {
        if (early) throw 42;
        throw std::runtime_error("mine");
      });
      if (early) world.send(std::int32_t{1}, 0);
      work.wait();
    }
  });
  set_log_sink({});
  EXPECT_EQ(lines,
            (std::vector<std::string>{"a completion function threw an exception that is no std::exception",
                                      "a completion function threw: mine"}));
}

TEST(RunWorld, CompletionFunctionsRunOnce) {
  run_world(2, [](ProcessGroup& world) {
    std::atomic<int> calls{0};
    std::int32_t value = 0;
    if (world.rank() == 0) {
      Work work = world.irecv(std::span(&value, 1), 1);
      work.then([&](std::exception_ptr error) { calls += error == nullptr ? 1 : 100; });
      EXPECT_THROW(work.then([](std::exception_ptr) {}), UsageError);
      world.barrier();
      work.wait();
      while (calls == 0) world.progress();
      EXPECT_EQ(calls, 1);
      EXPECT_EQ(value, 9);
    } else {
      world.barrier();
      world.send(std::int32_t{9}, 0);
    }
  });
}

TEST(RunWorld, DetachedOperationsKeepTheirBuffer) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      auto buffer = std::make_shared<std::vector<std::uint8_t>>(500'000, std::uint8_t{5});
      world.isend(*buffer, 1).detach(buffer);
      buffer.reset();
      world.barrier();
    } else {
      std::vector<std::uint8_t> in(500'000);
      world.barrier();
      world.recv(in, 0);
      EXPECT_EQ(in, std::vector<std::uint8_t>(in.size(), 5));
    }
  });
}

TEST(RunWorld, WaitAnyAndTestAny) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      std::int32_t values[3] = {};
      std::vector<Work> works;
      for (int i = 0; i < 3; ++i) works.push_back(world.irecv(std::span(&values[i], 1), 1, {.tag = i}));
      EXPECT_EQ(test_any(works), std::nullopt);
      world.barrier();
      EXPECT_EQ(wait_any(works), 1U);
      works[1].wait();
      EXPECT_EQ(values[1], 11);
      world.barrier();
      wait_all(works);
      EXPECT_EQ(values[0] + values[2], 10 + 12);
    } else {
      world.barrier();
      world.send(std::int32_t{11}, 0, {.tag = 1});
      world.barrier();
      world.send(std::int32_t{10}, 0, {.tag = 0});
      world.send(std::int32_t{12}, 0, {.tag = 2});
    }
  });
}

TEST(RunWorld, MisuseIsAUsageErrorAndHarmsNothing) {
  run_world(2, [](ProcessGroup& world) {
    std::vector<float> data(4);
    EXPECT_THROW(world.send(data, 2), UsageError);
    EXPECT_THROW(world.send(data, -1), UsageError);
    EXPECT_THROW(world.send(data, 0, {.tag = -3}), UsageError);
    EXPECT_THROW(world.recv(data, 7), UsageError);
    EXPECT_THROW(world.recv(data, 0, {.tag = -3}), UsageError);
    const std::vector<float> constant(4);
    EXPECT_THROW(world.recv(constant, 0), UsageError);
    const Tensor column = Tensor::zeros({2, 2}).select(1, 0);
    EXPECT_THROW(world.send(column, 0), UsageError);
    EXPECT_THROW(ProcessGroup().barrier(), UsageError);
    world.barrier();
  });
}

TEST(RunWorld, ManyThreadsOfARankAtOnce) {
  run_world(2, [](ProcessGroup& world) {
    constexpr int threads = 6;
    const int other = 1 - world.rank();
    std::vector<std::thread> pool;
    for (int thread = 0; thread < threads; ++thread) {
      pool.emplace_back([&, thread] {
        for (std::int32_t round = 0; round < 200; ++round) {
          Work sent = world.isend(Tensor::full({1}, round, DType::i32), other, {.tag = thread});
          EXPECT_EQ(world.recv<std::int32_t>(other, {.tag = thread}), round);
          sent.wait();
        }
      });
    }
    for (auto& thread : pool) thread.join();
    world.barrier();
  });
}

}  // namespace
}  // namespace parley
