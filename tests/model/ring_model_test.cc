// Every course that a writer and a reader of a small ring can take: the code of the product on simulated
// memory, one operation of one side after the other, each load answered in every way that the memory model
// permits. States that are met again are not followed twice, so that sides which poll for ever end.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/model/simulated_memory.h"
#include "tests/sanitizer.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace parley::transport::shm {
namespace {

using model::Log;
using model::Run;
using model::Side;
using model::SimulatedMemory;
using model::Weakened;
using model::World;

struct Planned {
  std::uint32_t bytes = 0;
  Share share = Share::data;
  Area area = Area::own;
  bool moves = false;  // to the other window, instead of a packet
};

struct Setting {
  RingShape shape;
  std::vector<Planned> program;
  std::uint32_t first_lap = 1;
  bool hands_back = true;  // when the reader finds the ring empty; the writer waits for that in the end
  std::uint32_t window_bytes = 0;  // of each of two windows behind the ring
  bool waits = true;               // for the ring to be drained, before the window is given away
};

constexpr std::uint32_t longest_chunk = 512;

std::array<std::byte, longest_chunk> content_of(std::size_t number) {
  std::array<std::byte, longest_chunk> content;
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(number * 37 + i + 1);
  return content;
}

PacketHeader header_of(std::size_t number) {
  PacketHeader header;
  header.kind = PacketKind::eager;
  header.tag = static_cast<std::int64_t>(number) * 1'000'003 + 1;
  header.message_bytes = ~std::uint64_t{number};
  return header;
}

// Addresses only; what stands there is in the World.
alignas(SimulatedMemory<Weakened::nothing>::memory_alignment)
    std::byte memory[SimulatedMemory<Weakened::nothing>::memory_alignment];

std::byte* window_at(const Setting& setting, std::uint64_t window) {
  return memory + ring_bytes(setting.shape) + window * setting.window_bytes;
}

// A step of a side is one call of its owner's loop. Between steps a side is nothing but its object, which has
// no padding, so that equal sides are equal bytes.
template <Weakened weakened>
struct Writer {
  BasicRingWriter<SimulatedMemory<weakened>> ring;
  std::uint32_t next = 0;
  std::uint32_t done = 0;
  std::uint64_t window = 1;  // the one that it has, 0 or 1

  void step(const Setting& setting) {
    if (next == setting.program.size()) {
      done = ring.drained() || !setting.hands_back ? 1 : 0;
      return;
    }
    const Planned& planned = setting.program[next];
    if (planned.moves) return move(setting);
    const auto content = content_of(next);
    if (ring.try_write(RecordKind::packet, header_of(next), std::span(content).first(planned.bytes),
                       planned.share, planned.area))
      ++next;
    Run::current->expect(!ring.broken(), "the writer found the counts impossible");
  }

  void move(const Setting& setting) {
    if (setting.waits && !ring.drained()) return;
    PacketHeader header;
    header.id = static_cast<std::uint32_t>(window ^ 1);
    if (!ring.try_write(RecordKind::moved, header, {}, Share::data)) return;
    // The one before goes to somebody who writes all of it.
    const std::vector<std::byte> other(setting.window_bytes);
    SimulatedMemory<weakened>::write(window_at(setting, window), other.data(), other.size());
    window ^= 1;
    ring.set_window(window_at(setting, window), setting.window_bytes);
    ++next;
  }
};

template <Weakened weakened>
struct Reader {
  BasicRingReader<SimulatedMemory<weakened>> ring;
  std::uint32_t next = 0;
  std::uint32_t done = 0;

  void step(const Setting& setting) {
    Run& run = *Run::current;
    if (!ring.has_next()) {
      if (setting.hands_back) ring.hand_back();
      done = next == setting.program.size() ? 1 : 0;
      return;
    }
    Record record;
    const Look look = ring.look(record);
    run.expect(look == Look::record, "what has_next() had seen was gone, or wrong");
    run.expect(next < setting.program.size(), "a record too many");
    if (!run.complete() || !run.failure().empty()) return;
    if (setting.program[next].moves) {
      run.expect(record.kind == RecordKind::moved, "was not told of the other window");
      ring.set_window(window_at(setting, record.header.id & 1), setting.window_bytes);
    } else {
      take(record, setting.program[next].bytes);
    }
    (void)ring.release();
    ++next;
  }

  void take(const Record& record, std::uint32_t bytes) {
    Run& run = *Run::current;
    const PacketHeader expected = header_of(next);
    run.expect(record.kind == RecordKind::packet && record.chunk.size() == bytes, "another kind or length");
    run.expect(std::memcmp(&record.header, &expected, sizeof(expected)) == 0, "another header");
    if (record.chunk.size() != bytes || bytes == 0) return;
    std::array<std::byte, longest_chunk> chunk;
    SimulatedMemory<weakened>::read(chunk.data(), record.chunk.data(), bytes);
    run.expect(std::memcmp(chunk.data(), content_of(next).data(), bytes) == 0, "other bytes");
  }
};

struct Explored {
  std::string failure;
  std::size_t states = 0;
};

template <Weakened weakened>
class Explorer {
 public:
  explicit Explorer(const Setting& setting) : setting_(setting) {}

  Explored explore() {
    visit({World(setting_.shape, setting_.first_lap, 2 * std::size_t{setting_.window_bytes}),
           {{memory, setting_.shape, setting_.first_lap}},
           {{memory, setting_.shape, setting_.first_lap}},
           {}});
    while (!todo_.empty() && failure_.empty()) {
      const auto [state, number] = std::move(todo_.front());
      todo_.pop_front();
      from_ = number;
      advance(state, Side::writer, state.writer);
      advance(state, Side::reader, state.reader);
    }
    if (failure_.empty()) check_ends();
    return {failure_, numbers_.size()};
  }

 private:
  struct State {
    World world;
    Writer<weakened> writer;
    Reader<weakened> reader;
    std::array<Log, 2> logs;  // of the steps that the sides are in
  };
  static_assert(std::has_unique_object_representations_v<Writer<weakened>>);
  static_assert(std::has_unique_object_representations_v<Reader<weakened>>);

  static Writer<weakened>& of(State& state, const Writer<weakened>&) { return state.writer; }
  static Reader<weakened>& of(State& state, const Reader<weakened>&) { return state.reader; }

  // All states that the next operation of a side can lead to.
  template <typename Party>
  void advance(const State& state, Side side, const Party& party) {
    if (party.done != 0) return;
    Party ran = party;
    Run run(memory, state.logs[index_of(side)]);
    ran.step(setting_);
    const std::size_t choices = state.world.choices(side, run.pending());
    for (std::size_t choice = 0; choice < choices && failure_.empty(); ++choice) {
      State next = state;
      Log& log = next.logs[index_of(side)];
      failure_ = next.world.apply(side, run.pending(), choice, log);
      if (failure_.empty()) finish_step(of(next, party), log);
      if (failure_.empty()) visit(std::move(next));
    }
  }

  // Commits a step that has no further operation.
  template <typename Party>
  void finish_step(Party& party, Log& log) {
    Party ran = party;
    Run run(memory, log);
    ran.step(setting_);
    failure_ = run.failure();
    if (!run.complete()) return;
    party = ran;
    log = {};
  }

  void visit(State state) {
    std::string key;
    state.world.append_to(key);
    key.append(reinterpret_cast<const char*>(&state.writer), sizeof(state.writer));
    key.append(reinterpret_cast<const char*>(&state.reader), sizeof(state.reader));
    for (const Log& log : state.logs) {
      key += static_cast<char>(log.operations);
      key.append(reinterpret_cast<const char*>(log.answers.data()), log.answers.size());
    }
    const auto [place, is_new] = numbers_.try_emplace(std::move(key), numbers_.size());
    if (is_new) {
      before_.emplace_back();
      if (state.writer.done != 0 && state.reader.done != 0) ends_.push_back(place->second);
      todo_.emplace_back(std::move(state), place->second);
    }
    before_[place->second].push_back(from_);
  }

  // No deadlock: from every state the end can still be reached.
  void check_ends() {
    std::vector<bool> ends(before_.size());
    std::size_t count = 0;
    for (std::vector<std::size_t> todo = ends_; !todo.empty();) {
      const std::size_t number = todo.back();
      todo.pop_back();
      if (ends[number]) continue;
      ends[number] = true;
      ++count;
      todo.insert(todo.end(), before_[number].begin(), before_[number].end());
    }
    if (count != before_.size())
      failure_ = "deadlock: " + std::to_string(before_.size() - count) + " states have no way to the end";
  }

  const Setting& setting_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> before_;  // of each state, those that lead to it
  std::vector<std::size_t> ends_;
  std::deque<std::pair<State, std::size_t>> todo_;
  std::size_t from_ = 0;
  std::string failure_;
};

template <Weakened weakened = Weakened::nothing>
Explored explore(const Setting& setting) {
  return std::make_unique<Explorer<weakened>>(setting)->explore();
}

std::string describe(const Setting& setting) {
  std::string text = std::to_string(setting.shape.cells) + " cells, " +
                     std::to_string(setting.shape.payload_bytes) + " bytes of payload; chunks:";
  for (const Planned& one : setting.program)
    text += one.moves ? std::string(" moves")
                      : " " + std::to_string(one.bytes) + (one.share == Share::control ? "c" : "") +
                            (one.area == Area::window ? "w" : "");
  return text;
}

void expect_sound(const Setting& setting) {
  SCOPED_TRACE(describe(setting));
  const Explored explored = explore(setting);
  EXPECT_EQ(explored.failure, "");
  // Many courses, not one.
  EXPECT_GT(explored.states, 50 * setting.program.size());
}

// More records than cells, more chunks than payload, ends that are too short for a chunk.
const std::vector<Planned> mixed{{0}, {24}, {64}, {25}, {8}, {128}, {128}, {1}, {65}, {128}, {64}, {24}};

TEST(RingModel, SmallRecordsGoRoundAndRound) {
  expect_sound({{4, 256}, std::vector<Planned>(14, {8})});
  expect_sound({{4, 256}, std::vector<Planned>(10, {24})});
}

TEST(RingModel, ChunksGoRoundBesideTheCells) {
  expect_sound({{4, 512}, mixed});
  expect_sound({{8, 512}, {{65}, {24}, {128}, {25}, {0}, {128}, {8}, {64}, {1}, {100}}});
}

TEST(RingModel, TheLongestChunksFitAgainAndAgain) {
  expect_sound({{4, 256}, {{64}, {64}, {64}, {50}, {64}, {64}, {64}}});
  expect_sound({{4, 512}, {{128}, {64}, {128}, {128}, {65}, {128}, {64}, {65}, {128}}});
}

TEST(RingModel, ControlAmongData) {
  const Planned c0{0, Share::control}, c8{8, Share::control}, c24{24, Share::control};
  expect_sound({{4, 512}, {{128}, c0, {8}, {8}, c24, c0, {64}, {64}, {64}, c8, {0}, {0}}});
}

Planned in_window(std::uint32_t bytes) {
  return {bytes, Share::data, Area::window};
}
constexpr Planned moves{0, Share::data, Area::own, true};

const Planned w64 = in_window(64), w65 = in_window(65), w128 = in_window(128);

TEST(RingModel, ChunksInAWindow) {
  Setting setting{{4, 256}, {moves, w128, {64}, w64, w128, {8}, {50}, w65, w128, in_window(100)}};
  setting.window_bytes = 512;
  expect_sound(setting);
}

TEST(RingModel, FromWindowToWindow) {
  Setting setting{{4, 256}, {moves, w64, {64}, w128, moves, w128, {24}, w65, moves, w128}};
  setting.window_bytes = 512;
  expect_sound(setting);
  // Given away while the reader may still read there.
  setting.waits = false;
  EXPECT_EQ(explore(setting).failure.substr(0, 5), "race:");
}

TEST(RingModel, LapsWrap) {
  expect_sound({{4, 512}, mixed, 0xffff'ffff});
  expect_sound({{4, 256}, std::vector<Planned>(14, {8}), 0xffff'fffe});
}

TEST(RingModel, RandomPrograms) {
  for (std::uint32_t seed = 1; seed <= (sanitizer::is_on ? 3 : 12); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    // Eight cells would have twenty times the states of four, and show little more.
    Setting setting{{4, 512}, {}};
    for (int i = 0; i < 14; ++i) {
      const bool small = random() % 2 == 0;
      const std::uint32_t most = small ? inline_bytes : largest_chunk(setting.shape);
      setting.program.push_back({static_cast<std::uint32_t>(random() % (most + 1)),
                                 small && random() % 4 == 0 ? Share::control : Share::data});
    }
    expect_sound(setting);
    if (HasFailure()) return;
  }
}

// That the exploration can fail: each order of the ring is needed.
TEST(RingModel, NoticesEachWeakenedOrder) {
  const Setting setting{{4, 512}, mixed};
  for (const std::string& failure :
       {explore<Weakened::publishing>(setting).failure, explore<Weakened::looking>(setting).failure,
        explore<Weakened::handing_back>(setting).failure, explore<Weakened::refreshing>(setting).failure})
    EXPECT_EQ(failure.substr(0, 5), "race:") << failure;
}

// Invariant 7, where room for chunks runs out before a quarter of the cells is released.
TEST(RingModel, NobodyWaitsForWhatIsKeptBack) {
  const std::uint32_t longest = largest_chunk(RingShape{16, 1024});
  Setting setting{{16, 1024}, {{192}, {192}, {longest}, {192}, {longest}, {65}, {longest}}};
  setting.hands_back = false;
  expect_sound(setting);
  Setting moved{{16, 256}, {moves, w64, w128, w128, w65, w128, w64, w128}};
  moved.window_bytes = 512;
  moved.hands_back = false;
  expect_sound(moved);
}

// But who wants to know that all was read does.
TEST(RingModel, NoticesThatNothingIsHandedBack) {
  Setting setting{{8, 512}, {{8}, {8}, {8}, {8}, {8}, moves, in_window(64), {24}}};
  setting.window_bytes = 512;
  expect_sound(setting);
  setting.hands_back = false;
  EXPECT_EQ(explore(setting).failure.substr(0, 9), "deadlock:");
}

}  // namespace
}  // namespace parley::transport::shm
