// Two threads and two processes, each with its own end; every byte is compared.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <random>
#include <thread>

#include "tests/unit/shm/ring.h"
#include "transport/base/deadline.h"

namespace parley::transport::shm {
namespace {

constexpr std::uint64_t hang_check = 256;       // idle polls between two looks at the clock
constexpr std::chrono::seconds hang_limit{60};  // without a record; reached only by a deadlock

// The lengths of one run: both ends draw the same ones.
class Lengths {
 public:
  Lengths(std::uint32_t seed, RingShape shape) : random_(seed), largest_(largest_chunk(shape)) {}
  std::uint32_t next() {
    const std::uint32_t dice = up_to(3);
    if (dice < 2) return up_to(inline_bytes);
    return up_to(dice == 2 ? std::min(largest_, 200U) : largest_);
  }

 private:
  std::uint32_t up_to(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % (most + 1)); }

  std::mt19937 random_;
  std::uint32_t largest_;
};

// Waits for one event, giving the core away; false when it has done so for too long.
class Patience {
 public:
  bool wait() {
    if (++polls_ == hang_check) deadline_ = base::Deadline::after(hang_limit);
    if (polls_ % hang_check == 0 && deadline_.expired()) return false;
    std::this_thread::yield();
    return true;
  }

 private:
  std::uint64_t polls_ = 0;
  base::Deadline deadline_ = base::Deadline::never();
};

struct Traffic {
  RingShape shape;
  std::uint32_t seed;
  std::uint64_t records;
};

bool write_all(RingWriter writer, const Traffic& traffic) {
  Lengths lengths(traffic.seed, traffic.shape);
  std::vector<std::byte> chunk(largest_chunk(traffic.shape));
  for (std::uint64_t number = 0; number < traffic.records; ++number) {
    const std::span<std::byte> bytes = std::span(chunk).first(lengths.next());
    fill_chunk(bytes, number);
    const Share share = bytes.size() <= inline_bytes && number % 3 == 0 ? Share::control : Share::data;
    Patience patience;
    while (!writer.try_write(RecordKind::packet, header_of(number), bytes, share))
      if (writer.broken() || !patience.wait()) return false;
  }
  Patience patience;
  while (!writer.drained())
    if (!patience.wait()) return false;
  return true;
}

bool read_all(RingReader reader, const Traffic& traffic) {
  Lengths lengths(traffic.seed, traffic.shape);
  for (std::uint64_t number = 0; number < traffic.records; ++number) {
    Patience patience;
    while (!reader.has_next()) {
      (void)reader.hand_back();
      if (!patience.wait()) return false;
    }
    Record record;
    if (reader.look(record) != Look::record || !is_record(record, number, lengths.next())) return false;
    (void)reader.release();
  }
  (void)reader.hand_back();
  return !reader.has_next();
}

// A small ring is full after a few records: on a machine without a free core each then costs a turn of
// others.
const Traffic all_traffic[] = {
    {{4, 128}, 1, 1'000},
    {{8, 1024}, 2, 2'000},
    {{64, 8 << 10}, 3, 10'000},
    {{1024, 64 << 10}, 4, 5'000},
};

class RingPair : public testing::TestWithParam<Traffic> {};

TEST_P(RingPair, TwoThreads) {
  const Traffic& traffic = GetParam();
  SCOPED_TRACE(testing::Message() << "seed " << traffic.seed);
  const RingMemory memory = make_ring_memory(traffic.shape);
  bool written = false;
  std::thread other([&] { written = write_all({memory.get(), traffic.shape}, traffic); });
  EXPECT_TRUE(read_all({memory.get(), traffic.shape}, traffic));
  other.join();
  EXPECT_TRUE(written);
}

TEST_P(RingPair, TwoProcesses) {
  const Traffic& traffic = GetParam();
  SCOPED_TRACE(testing::Message() << "seed " << traffic.seed);
  const std::size_t bytes = ring_bytes(traffic.shape);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* memory = static_cast<std::byte*>(mapped);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write_all({memory, traffic.shape}, traffic) ? 0 : 1);
  ASSERT_GT(child, 0);
  const bool read = read_all({memory, traffic.shape}, traffic);
  EXPECT_TRUE(read);
  if (!read) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::munmap(mapped, bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RingPair, testing::ValuesIn(all_traffic),
                         [](const auto& param) { return std::to_string(param.param.shape.cells) + "Cells"; });

}  // namespace
}  // namespace parley::transport::shm
