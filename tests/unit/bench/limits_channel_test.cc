// The raw loops over shared memory, with a thread or a child process as the partner.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/buffers.h"
#include "bench/compare/floor.h"
#include "bench/gate.h"
#include "bench/limits/channel.h"
#include "bench/limits/systems.h"
#include "bench/phase.h"
#include "bench/raw_link.h"
#include "bench/rewriting.h"
#include "tests/sanitizer.h"

namespace parley::bench {
namespace {

constexpr std::size_t most_bytes = std::size_t{sanitizer::is_on ? 1U << 17 : 1U << 20};
constexpr Plan pings{
    .warmup = 1, .batches = 3, .batch_length = 5, .tail_samples = 4, .window = 1, .divisor = 2};
constexpr Plan windows{.warmup = 1, .batches = 1, .batch_length = 40, .window = 64, .divisor = 64};

// One rank with a thread or process of its own. The test machine may have fewer free cores than ranks: yield.
struct End {
  End(base::UniqueFd connection, SharedMemory flags, SharedMemory memory, bool leads, pid_t partner)
      : link(std::move(connection), Idle::yield),
        waiting(link, Idle::yield),
        gate_memory(std::move(flags)),
        gate(gate_memory.data(), 2, leads ? 0 : 1, waiting),
        channel(std::move(memory), most_bytes, leads, partner, waiting) {}
  RawLink link;
  Waiting waiting;
  SharedMemory gate_memory;
  Gate gate;
  Channel channel;
};

struct TwoEnds {
  TwoEnds() {
    const RawListener listener;
    base::UniqueFd connection = connect_raw(listener.port());
    SharedMemory memory = SharedMemory::create(Channel::memory_bytes(most_bytes));
    SharedMemory same = SharedMemory::open_from(::getpid(), memory.fd());
    SharedMemory flags = SharedMemory::create(2 * Gate::bytes_per_rank);
    SharedMemory same_flags = SharedMemory::open_from(::getpid(), flags.fd());
    here.emplace(listener.accept(), std::move(flags), std::move(memory), true, ::getpid());
    there.emplace(std::move(connection), std::move(same_flags), std::move(same), false, ::getpid());
  }
  std::optional<End> here;
  std::optional<End> there;
};

using MakeAndRun = std::function<PhaseResult(End&, Buffers&, Op, const Plan&, bool leads)>;

// With buffers that change before each exchange, a loop that delivers an older message is found out; an odd
// number of changes in all, or the first message would do for the last.
template <typename System>
PhaseResult run_kept_and_rewritten(System& system, Gate& gate, Buffers& buffers, Op op, const Plan& plan,
                                   bool leads) {
  run_phase(system, op, plan, leads);
  return run_prepared_phase(system, op, plan, leads, [&] { rewrite(gate, buffers, op, leads); });
}

template <typename System>
PhaseResult run(End& end, Buffers& buffers, Op op, const Plan& plan, bool leads) {
  System system(end.channel, buffers, op, plan);
  return run_kept_and_rewritten(system, end.gate, buffers, op, plan, leads);
}

using Stores = CopiedSystem::Stores;
MakeAndRun copied_through(const Slots& slots, Stores stores = Stores::cached) {
  return [=](End& end, Buffers& buffers, Op op, const Plan& plan, bool leads) {
    CopiedSystem system(end.channel, buffers, plan, slots, stores);
    return run_kept_and_rewritten(system, end.gate, buffers, op, plan, leads);
  };
}

// Runs one phase on both ends and checks what both received.
void exchange(TwoEnds& ends, const MakeAndRun& phase, Op op, std::size_t bytes, bool in_arena = false) {
  Buffers mine(bytes, 0, 1, in_arena ? ends.here->channel.out().arena : nullptr);
  Buffers theirs(bytes, 1, 0, in_arena ? ends.there->channel.out().arena : nullptr);
  const Plan& plan = is_windowed(op) ? windows : pings;
  std::thread partner([&] { phase(*ends.there, theirs, op, plan, false); });
  EXPECT_GT(phase(*ends.here, mine, op, plan, true).us, 0);
  partner.join();
  EXPECT_NO_THROW(theirs.check_in()) << to_string(op) << ' ' << bytes;
  if (!receives_messages(op, true)) return;
  EXPECT_NO_THROW(mine.check_in()) << to_string(op) << ' ' << bytes;
}

TEST(CellSystem, DeliversWhatFitsACell) {
  TwoEnds ends;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, Cell::inline_bytes}) {
    exchange(ends, run<CellSystem>, Op::latency, bytes);
    // 41 windows of 64: more than twice round the ring.
    exchange(ends, run<CellSystem>, Op::message_rate, bytes);
    exchange(ends, run<CellSystem>, Op::bidirectional, bytes);
  }
}

// Looks for its message, and sleeps between two looks.
class SleepingSystem : public CellSystem {
 public:
  using CellSystem::CellSystem;
  void recv() {
    do std::this_thread::sleep_for(std::chrono::microseconds(100));
    while (!cells_in_.has_next());
    CellSystem::recv();
  }
};

TEST(CellSystem, ThatSleepsInsteadOfSpinningIsNoLimit) {
  TwoEnds ends;
  Buffers mine(8, 0, 1);
  Buffers theirs(8, 1, 0);
  std::thread partner([&] { run<SleepingSystem>(*ends.there, theirs, Op::latency, pings, false); });
  compare::Sample sample;
  sample.where = {"latency", "shm", 2, false};
  sample.bytes = 8;
  // Of far cores, and much more than one of near ones.
  sample.probe_ns = 260;
  sample.limit_us = run<SleepingSystem>(*ends.here, mine, Op::latency, pings, true).us;
  partner.join();
  const auto reason = compare::limit_void_reason(sample, 2);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("a loop that spins takes"), std::string::npos) << *reason;
}

TEST(CopiedSystem, DeliversThroughOneSlotAndThroughFew) {
  TwoEnds ends;
  for (const std::size_t bytes :
       {std::size_t{8}, std::size_t{1000}, std::size_t{sanitizer::is_on ? 20'000U : 100'000U}}) {
    for (const Slots& slots : {reused_slot(bytes), Slots{bytes, 3}, Slots{512, 5}, Slots{8192, 512}}) {
      exchange(ends, copied_through(slots), Op::latency, bytes);
      exchange(ends, copied_through(slots), Op::bandwidth, bytes);
      // Where the ends share a core, few slots fill at once, and each filling takes a turn on the core.
      if (bytes <= 20 * slots.bytes) exchange(ends, copied_through(slots), Op::bidirectional, bytes);
    }
  }
}

TEST(CopiedSystem, DeliversPastTheCaches) {
  TwoEnds ends;
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1024}, std::size_t{20'000}})
    for (const Slots& slots : {Slots{512, 5}, Slots{8192, 512}})
      for (const Op op : {Op::latency, Op::bandwidth})
        exchange(ends, copied_through(slots, Stores::past_caches), op, bytes);
}

TEST(CrossMemorySystem, ReadsFromThePartner) {
  TwoEnds ends;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'000}}) {
    exchange(ends, run<CrossMemorySystem>, Op::latency, bytes);
    exchange(ends, run<CrossMemorySystem>, Op::bandwidth, bytes);
    exchange(ends, run<CrossMemorySystem>, Op::bidirectional, bytes);
  }
}

TEST(CrossMemorySystem, AnAddressThatIsNotThereIsAnError) {
  std::uint8_t byte = 0;
  EXPECT_THROW(read_from_process(::getpid(), 1, &byte, 1), std::system_error);
}

TEST(MappedSystem, CopiesOutOfTheArena) {
  TwoEnds ends;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'000}, most_bytes}) {
    exchange(ends, run<MappedSystem>, Op::latency, bytes, true);
    exchange(ends, run<MappedSystem>, Op::bandwidth, bytes, true);
    exchange(ends, run<MappedSystem>, Op::bidirectional, bytes, true);
  }
}

// All loops of a session use one channel, in any order.
TEST(Channel, LoopsFollowEachOther) {
  TwoEnds ends;
  for (int i = 0; i < 3; ++i) {
    exchange(ends, copied_through({8192, 512}), Op::bandwidth, 20'000);
    exchange(ends, run<CellSystem>, Op::bandwidth, 8);
    exchange(ends, copied_through(reused_slot(20'000)), Op::latency, 20'000);
    exchange(ends, copied_through(reused_slot(20'000)), Op::bidirectional, 20'000);
    exchange(ends, run<MappedSystem>, Op::latency, 20'000, true);
    exchange(ends, run<CellSystem>, Op::latency, 8);
  }
}

TEST(StreamSystem, NeverRunsPastTheRing) {
  TwoEnds ends;
  exchange(ends, run<StreamSystem>, Op::message_rate, 8);
  exchange(ends, run<CellSystem>, Op::message_rate, 8);
  exchange(ends, run<StreamSystem>, Op::message_rate, Cell::inline_bytes);
  exchange(ends, copied_through({8192, 512}), Op::bandwidth, 20'000);
}

// The child does what it is told, then waits to be killed.
class Child {
 public:
  explicit Child(const std::function<void()>& life) : pid_(::fork()) {
    if (pid_ != 0) return;
    life();
    for (;;) ::pause();
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

TEST(Waiting, EndsInWordsWhenThePartnerIsKilled) {
  const RawListener listener;
  SharedMemory memory = SharedMemory::create(Channel::memory_bytes(most_bytes));
  Child child([&] {
    // Held open until the end.
    static const base::UniqueFd connection = connect_raw(listener.port());
  });
  End end(listener.accept(), SharedMemory::create(2 * Gate::bytes_per_rank), std::move(memory), true,
          ::getpid());
  std::thread killer([&] { child.kill(); });
  Buffers buffers(8, 0, 1);
  CellSystem system(end.channel, buffers, Op::latency, pings);
  try {
    system.recv();
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("raw link: "), std::string::npos) << error.what();
  }
  killer.join();
}

}  // namespace
}  // namespace parley::bench
