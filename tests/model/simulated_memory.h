#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "transport/shm/ring_layout.h"

// Memory of a ring as the C++ memory model lets two threads see it, one operation at a time.
//
// A word keeps every value that the other side may still read: a load may answer with any of them that is not
// older than what this side has read there before, or than what happened before it. So a store may become
// visible late, and stores in another order, unless release and acquire forbid it. Plain bytes have one
// value, and an access that is not ordered with the other side's last access to them is reported: a torn or
// lost record is such a race. Time is counted in epochs: one of a side ends with each of its release stores.
// (What is left out: stores that are seen before an earlier load of their own thread was made.)
namespace parley::transport::shm::model {

enum class Side : std::uint8_t { writer, reader };

[[nodiscard]] inline std::size_t index_of(Side side) {
  return static_cast<std::size_t>(side);
}
[[nodiscard]] inline Side other(Side side) {
  return side == Side::writer ? Side::reader : Side::writer;
}

// One operation on the ring's memory.
struct Operation {
  enum class Kind : std::uint8_t { load, store, write, read };
  Kind kind{};
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool ordered = false;         // load: acquire; store: release
  std::uint64_t value = 0;      // store
  std::vector<std::byte> data;  // write
};

// What a side was answered since the beginning of its current step: enough to run it up to here again.
struct Log {
  std::size_t operations = 0;
  std::vector<std::byte> answers;
};

// The ring's memory, and what each side knows of it.
class World {
 public:
  // `more_bytes`: behind the ring, for windows.
  World(RingShape shape, std::uint32_t first_lap, std::size_t more_bytes);

  // How many values a load may answer with; 1 for other operations.
  [[nodiscard]] std::size_t choices(Side side, const Operation& operation) const;
  // Carries it out and logs the answer. Returns what is wrong with it, or nothing.
  std::string apply(Side side, const Operation& operation, std::size_t choice, Log& log);
  // For comparing worlds.
  void append_to(std::string& key) const;

 private:
  static constexpr std::size_t granule = 8;         // no two parts of a ring share one
  static constexpr std::size_t counts = 1 + areas;  // words of ReaderCounts

  struct Message {
    std::uint64_t value;
    std::uint8_t epoch;  // of the side that stored it
    bool releases;
  };
  // Of plain bytes, which only the writer writes and only the reader reads.
  struct Mark {
    std::uint8_t written = 0;  // the writer's epoch
    std::uint8_t read = 0;     // the reader's
  };

  [[nodiscard]] std::size_t word_at(std::size_t offset) const;
  // Index of the oldest message that `side` may read.
  [[nodiscard]] std::size_t oldest(Side side, const std::vector<Message>& messages) const;
  std::string access(Side side, const Operation& operation);

  RingShape shape_;
  std::vector<std::vector<Message>> words_;  // the counts, and one for each cell
  std::vector<std::byte> bytes_;
  std::vector<Mark> marks_;
  std::array<std::uint8_t, 2> epoch_{1, 1};
  std::array<std::uint8_t, 2> known_{0, 0};  // up to which epoch of the other side all happened before
};

// One step of a side, run from its beginning: operations that are in the log are answered from there, the
// next one is kept as pending. Code cannot be stopped in the middle, so that what comes after is answered
// with zeros, and whoever ran it throws the result away.
class Run {
 public:
  Run(const std::byte* memory, const Log& log) : memory_(memory), log_(log) { current = this; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { current = nullptr; }

  [[nodiscard]] bool complete() const { return !pending_; }
  [[nodiscard]] const Operation& pending() const { return operation_; }
  // What the step found wrong, while its answers were real.
  void expect(bool condition, const char* what) {
    if (complete() && !condition && failure_.empty()) failure_ = what;
  }
  [[nodiscard]] const std::string& failure() const { return failure_; }

  void perform(Operation operation, const void* at, void* answer);

  static inline Run* current = nullptr;

 private:
  const std::byte* memory_;
  const Log& log_;
  std::size_t replayed_ = 0;
  std::size_t read_ = 0;
  bool pending_ = false;
  Operation operation_;
  std::string failure_;
};

// Which of the ring's orders is relaxed, to show that this is noticed.
enum class Weakened : std::uint8_t { nothing, publishing, looking, handing_back, refreshing };

// Stands in for SharedMemory. The ring's addresses are real, its bytes are in the World.
template <Weakened weakened>
struct SimulatedMemory {
  static std::uint64_t load(const std::uint64_t& word, std::memory_order order) noexcept {
    std::uint64_t value = 0;
    Operation operation{Operation::Kind::load, 0, sizeof(word), order == std::memory_order_acquire, 0, {}};
    if (weakened == (is_count(word) ? Weakened::refreshing : Weakened::looking)) operation.ordered = false;
    Run::current->perform(std::move(operation), &word, &value);
    return value;
  }
  static void store(std::uint64_t& word, std::uint64_t value, std::memory_order order) noexcept {
    Operation operation{
        Operation::Kind::store, 0, sizeof(word), order == std::memory_order_release, value, {}};
    if (weakened == (is_count(word) ? Weakened::handing_back : Weakened::publishing))
      operation.ordered = false;
    Run::current->perform(std::move(operation), &word, nullptr);
  }
  static void write(std::byte* to, const void* from, std::size_t bytes) noexcept {
    const auto* begin = static_cast<const std::byte*>(from);
    Run::current->perform({Operation::Kind::write, 0, bytes, false, 0, {begin, begin + bytes}}, to, nullptr);
  }
  static void write_past_caches(std::byte* to, const void* from, std::size_t bytes) noexcept {
    write(to, from, bytes);
  }
  static void write_header(PacketHeader& to, const PacketHeader& from) noexcept {
    write(reinterpret_cast<std::byte*>(&to), &from, sizeof(from));
  }
  static void write_inline(std::byte* to, std::span<const std::byte> from) noexcept {
    if (!from.empty()) write(to, from.data(), from.size());
  }
  static void read(void* to, const std::byte* from, std::size_t bytes) noexcept {
    Run::current->perform({Operation::Kind::read, 0, bytes, false, 0, {}}, from, to);
  }

 private:
  // Counts stand in the first block of the ring, which is aligned to much more.
  static bool is_count(const std::uint64_t& word) {
    return reinterpret_cast<std::uintptr_t>(&word) % memory_alignment < sizeof(ReaderCounts);
  }

 public:
  static constexpr std::size_t memory_alignment = 1U << 13;  // more than the rings that are explored take
};

}  // namespace parley::transport::shm::model
