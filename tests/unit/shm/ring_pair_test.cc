// Two threads and two processes, each with its own end; every byte is compared.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "tests/unit/shm/ring.h"
#include "transport/base/deadline.h"

namespace parley::transport::shm {
namespace {

constexpr std::uint64_t hang_check = 256;       // idle polls between two looks at the clock
constexpr std::chrono::seconds hang_limit{60};  // without a record; reached only by a deadlock

struct Traffic {
  RingShape shape;
  std::uint32_t window_bytes;  // of each of two windows, which the ring has in turns
  std::uint32_t seed;
  std::uint64_t records;
};

// Where the ring and its windows lie, the same memory for both ends.
struct Places {
  std::byte* ring;
  std::array<std::byte*, 2> windows;
};

// The ring moves to its other window before every so many records.
constexpr std::uint64_t records_in_a_window = 97;

// The chunks of one run: both ends draw the same ones.
struct Chunk {
  std::uint32_t bytes;
  Area area;
};
class Chunks {
 public:
  explicit Chunks(const Traffic& traffic)
      : random_(traffic.seed), largest_{largest_chunk(traffic.shape), largest_chunk(traffic.window_bytes)} {}
  Chunk next() {
    const std::uint32_t dice = up_to(3);
    if (dice < 2) return {up_to(inline_bytes), Area::own};
    const Area area = up_to(1) == 0 ? Area::own : Area::window;
    const std::uint32_t largest = largest_[static_cast<std::size_t>(area)];
    return {up_to(dice == 2 ? std::min(largest, 200U) : largest), area};
  }

 private:
  std::uint32_t up_to(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % (most + 1)); }

  std::mt19937 random_;
  std::array<std::uint32_t, 2> largest_;  // of each area
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

// Writes all chunks past the caches.
struct PastCaches : SharedMemory {
  static void write(std::byte* to, const void* from, std::size_t bytes) noexcept {
    write_past_caches(to, static_cast<const std::byte*>(from), bytes);
  }
};

// Takes the other window as a link does: from a ring that is drained, and tells the reader.
template <typename Writer>
bool move(Writer& writer, const Traffic& traffic, const Places& places, std::uint64_t move_number) {
  Patience patience;
  while (!writer.drained())
    if (!patience.wait()) return false;
  PacketHeader header;
  header.id = static_cast<std::uint32_t>(move_number % places.windows.size());
  if (!writer.try_write(RecordKind::moved, header, {}, Share::data)) return false;
  writer.set_window(places.windows[header.id], traffic.window_bytes);
  return true;
}

template <typename Memory>
bool write_all(const Places& places, const Traffic& traffic) {
  BasicRingWriter<Memory> writer(places.ring, traffic.shape);
  Chunks chunks(traffic);
  std::vector<std::byte> buffer(std::max(largest_chunk(traffic.shape), largest_chunk(traffic.window_bytes)));
  for (std::uint64_t number = 0; number < traffic.records; ++number) {
    if (number % records_in_a_window == 0 && !move(writer, traffic, places, number / records_in_a_window))
      return false;
    const Chunk chunk = chunks.next();
    const std::span<std::byte> bytes = std::span(buffer).first(chunk.bytes);
    fill_chunk(bytes, number);
    const Share share = bytes.size() <= inline_bytes && number % 3 == 0 ? Share::control : Share::data;
    Patience patience;
    while (!writer.try_write(RecordKind::packet, header_of(number), bytes, share, chunk.area))
      if (writer.broken() || !patience.wait()) return false;
  }
  Patience patience;
  while (!writer.drained())
    if (!patience.wait()) return false;
  return true;
}

// The next record, once it is there.
bool await_record(RingReader& reader, Record& record) {
  Patience patience;
  while (!reader.has_next()) {
    reader.hand_back();
    if (!patience.wait()) return false;
  }
  return reader.look(record) == Look::record;
}

bool read_all(const Places& places, const Traffic& traffic) {
  RingReader reader(places.ring, traffic.shape);
  Chunks chunks(traffic);
  for (std::uint64_t number = 0; number < traffic.records; ++number) {
    Record record;
    if (!await_record(reader, record)) return false;
    if (number % records_in_a_window == 0) {
      if (record.kind != RecordKind::moved || record.header.id >= places.windows.size()) return false;
      reader.set_window(places.windows[record.header.id], traffic.window_bytes);
      (void)reader.release();
      if (!await_record(reader, record)) return false;
    }
    if (record.kind != RecordKind::packet || !is_record(record, number, chunks.next().bytes)) return false;
    (void)reader.release();
  }
  reader.hand_back();
  return !reader.has_next();
}

// A small ring is full after a few records: on a machine without a free core each then costs a turn of
// others.
const Traffic all_traffic[] = {
    {{4, 256}, 512, 1, 1'000},
    {{8, 1024}, 256, 2, 2'000},
    {{64, 8 << 10}, 64 << 10, 3, 10'000},
    {{1024, 64 << 10}, 256 << 10, 4, 5'000},
};

class RingPair : public ::testing::TestWithParam<Traffic> {};

TEST_P(RingPair, TwoThreads) {
  const Traffic& traffic = GetParam();
  SCOPED_TRACE(::testing::Message() << "seed " << traffic.seed);
  for (const auto write : {write_all<SharedMemory>, write_all<PastCaches>}) {
    const RingMemory memory = make_ring_memory(traffic.shape);
    const RingMemory one = make_area(traffic.window_bytes), other_one = make_area(traffic.window_bytes);
    const Places places{memory.get(), {one.get(), other_one.get()}};
    bool written = false;
    std::thread other([&] { written = write(places, traffic); });
    EXPECT_TRUE(read_all(places, traffic));
    other.join();
    EXPECT_TRUE(written);
  }
}

TEST_P(RingPair, TwoProcesses) {
  const Traffic& traffic = GetParam();
  SCOPED_TRACE(::testing::Message() << "seed " << traffic.seed);
  const std::size_t bytes = ring_bytes(traffic.shape) + 2 * std::size_t{traffic.window_bytes};
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(mapped);
  std::byte* const windows = memory + ring_bytes(traffic.shape);
  const Places places{memory, {windows, windows + traffic.window_bytes}};
  // Half of the shapes each.
  const auto write = traffic.seed % 2 == 0 ? write_all<SharedMemory> : write_all<PastCaches>;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write(places, traffic) ? 0 : 1);
  ASSERT_GT(child, 0);
  const bool read = read_all(places, traffic);
  EXPECT_TRUE(read);
  if (!read) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::munmap(mapped, bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RingPair, ::testing::ValuesIn(all_traffic),
                         [](const auto& param) { return std::to_string(param.param.shape.cells) + "Cells"; });

}  // namespace
}  // namespace parley::transport::shm
