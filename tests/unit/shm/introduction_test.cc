#include "transport/shm/introduction.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/shm/child.h"
#include "transport/base/epoll.h"

namespace parley::transport::shm {
namespace {

using base::Code;
using base::Deadline;
using base::Status;
using base::UniqueFd;

Deadline patience() {
  return Deadline::after(std::chrono::seconds(60));
}

struct Side {
  explicit Side(PeerId number, std::byte job = std::byte{1}) : self{.number = number, .job = {}} {
    self.job[0] = job;
  }
  Self self;
  OwnBell bell = OwnBell::create().value();
};

struct Outcome {
  Status dialler, listener;
  std::string dialler_why, listener_why;
  Acquaintance dialled, answered;
};

Status read_nothing(pid_t, std::uint64_t, base::MemoryRef) noexcept {
  return {Code::io_error, EPERM};
}
Status read_something_else(pid_t, std::uint64_t, base::MemoryRef into) noexcept {
  std::memset(into.data, 0, into.bytes);
  return {};
}

// Lets both go on until neither can.
Outcome introduce(Side& a, Side& b, PeerId wanted) {
  LocalListener listener = LocalListener::open().value();
  auto dial = Introduction::dial(a.self, a.bell, wanted, listener.name(), patience());
  Outcome outcome;
  EXPECT_EQ(dial.step().code(), Code::again);
  auto answer = Introduction::answer(b.self, b.bell, listener.accept(), patience());
  outcome.listener = answer.step();
  EXPECT_FALSE(outcome.listener.ok()) << "the dialler has the last word";
  outcome.dialler = dial.step();
  outcome.dialler_why = dial.why();
  if (outcome.listener.code() == Code::again) outcome.listener = answer.step();
  outcome.listener_why = answer.why();
  if (outcome.listener.ok()) outcome.answered = answer.take_acquaintance();
  if (outcome.dialler.ok()) outcome.dialled = dial.take_acquaintance();
  return outcome;
}

TEST(Introduction, TwoOfOneJobShareTheirRingsAndBells) {
  Side a(7), b(4);
  const Outcome met = introduce(a, b, 4);
  ASSERT_TRUE(met.dialler.ok() && met.listener.ok()) << met.dialler_why << met.listener_why;
  EXPECT_EQ(met.dialled.peer, 4U);
  EXPECT_EQ(met.answered.peer, 7U);
  met.dialled.out.data()[100] = std::byte{42};
  EXPECT_EQ(met.answered.in.data()[100], std::byte{42});
  met.answered.out.data()[200] = std::byte{43};
  EXPECT_EQ(met.dialled.in.data()[200], std::byte{43});
  EXPECT_EQ(met.dialled.in_shape, met.answered.out_shape);
}

TEST(Introduction, AnotherJobIsRefusedAndToldSo) {
  Side a(7, std::byte{1}), b(4, std::byte{2});
  const Outcome met = introduce(a, b, 4);
  EXPECT_EQ(met.listener.code(), Code::refused);
  EXPECT_EQ(met.dialler.code(), Code::refused);
  EXPECT_EQ(met.dialler_why, "the address is that of another job");
}

TEST(Introduction, AnotherProcessIsRefusedAndToldSo) {
  Side a(7), b(4);
  const Outcome met = introduce(a, b, 5);
  EXPECT_EQ(met.listener.code(), Code::refused);
  EXPECT_EQ(met.dialler.code(), Code::refused);
  EXPECT_EQ(met.dialler_why, "the address is that of another process");
}

TEST(Introduction, NobodyThereIsTold) {
  Side a(7);
  std::string name;
  { name = LocalListener::open().value().name(); }
  auto dial = Introduction::dial(a.self, a.bell, 4, name, patience());
  EXPECT_TRUE(dial.step().failed());
  EXPECT_FALSE(dial.why().empty());
}

TEST(Introduction, SilenceEndsAtTheDeadline) {
  Side a(7);
  LocalListener listener = LocalListener::open().value();
  auto dial =
      Introduction::dial(a.self, a.bell, 4, listener.name(), Deadline::after(std::chrono::seconds(0)));
  EXPECT_EQ(dial.step().code(), Code::timed_out);
  auto answer =
      Introduction::answer(a.self, a.bell, listener.accept(), Deadline::after(std::chrono::seconds(0)));
  // The dialler has said who it is; what it may not do is wait for an answer for ever.
  EXPECT_EQ(answer.step().code(), Code::refused);
  auto silent = connect_locally(listener.name());
  ASSERT_TRUE(silent);
  auto other =
      Introduction::answer(a.self, a.bell, listener.accept(), Deadline::after(std::chrono::seconds(0)));
  EXPECT_EQ(other.step().code(), Code::timed_out);
}

struct Results {
  CrossRead a_reads, b_reads;        // as they have found out
  CrossRead b_was_told, a_was_told;  // of the other's result
};
Results read_each_other(std::shared_ptr<const CrossMemory> a_reads,
                        std::shared_ptr<const CrossMemory> b_reads) {
  Side a(7), b(4);
  a.self.cross_memory = std::move(a_reads);
  b.self.cross_memory = std::move(b_reads);
  const Outcome met = introduce(a, b, 4);
  EXPECT_TRUE(met.dialler.ok() && met.listener.ok()) << met.dialler_why << met.listener_why;
  const auto& dialled = met.dialled.cross_memory;
  const auto& answered = met.answered.cross_memory;
  return {dialled.we_read, answered.we_read, answered.peer_reads, dialled.peer_reads};
}

TEST(Introduction, BothSidesTryToReadTheOtherAndAreToldWhatCameOfIt) {
  const auto works = CrossMemory::create(), refused = CrossMemory::create(read_nothing),
             wrong = CrossMemory::create(read_something_else);
  const auto expect = [](const Results& results, CrossRead a, CrossRead b) {
    EXPECT_EQ(results.a_reads, a);
    EXPECT_EQ(results.b_was_told, a);
    EXPECT_EQ(results.b_reads, b);
    EXPECT_EQ(results.a_was_told, b);
  };
  expect(read_each_other(works, works), CrossRead::works, CrossRead::works);
  expect(read_each_other(refused, works), CrossRead::not_allowed, CrossRead::works);
  expect(read_each_other(works, refused), CrossRead::works, CrossRead::not_allowed);
  expect(read_each_other(wrong, refused), CrossRead::fails, CrossRead::not_allowed);
  expect(read_each_other(works, nullptr), CrossRead::unwanted, CrossRead::unwanted);
  expect(read_each_other(nullptr, works), CrossRead::unwanted, CrossRead::unwanted);
  expect(read_each_other(nullptr, nullptr), CrossRead::unwanted, CrossRead::unwanted);
}

// Its deadline passes when the answer is on its way: it goes on by another way, and is no peer that has died.
TEST(Introduction, ADiallerThatGivesUpBeforeItsLastWordWasNeverAPeer) {
  Side a(7), b(4);
  LocalListener listener = LocalListener::open().value();
  auto dial = std::make_unique<Introduction>(
      Introduction::dial(a.self, a.bell, 4, listener.name(), Deadline::after(std::chrono::seconds(0))));
  EXPECT_EQ(dial->step().code(), Code::timed_out);
  auto answer = Introduction::answer(b.self, b.bell, listener.accept(), patience());
  EXPECT_EQ(answer.step().code(), Code::again);
  dial.reset();
  EXPECT_EQ(answer.step().code(), Code::peer_died);
  EXPECT_EQ(answer.why(), "the other process has hung up");
}

// The dialler may have sent it already, and have a link.
TEST(Introduction, WhoeverHasAnsweredWaitsForTheLastWordWithoutADeadline) {
  Side a(7), b(4);
  LocalListener listener = LocalListener::open().value();
  auto dial = Introduction::dial(a.self, a.bell, 4, listener.name(), patience());
  EXPECT_EQ(dial.step().code(), Code::again);
  auto answer =
      Introduction::answer(b.self, b.bell, listener.accept(), Deadline::after(std::chrono::seconds(0)));
  EXPECT_EQ(answer.step().code(), Code::again);
  EXPECT_TRUE(answer.has_heard());
  EXPECT_EQ(answer.step().code(), Code::again);
  EXPECT_TRUE(dial.step().ok()) << dial.why();
  EXPECT_TRUE(answer.step().ok()) << answer.why();
}

// As root there is no such limit: another user's process shows it.
TEST(Introduction, WaitsWhileTooManyDescriptorsAreOnTheirWay) {
  const std::string found = testing::in_child([] {
    constexpr uid_t nobody_else = 54'321;
    if (::geteuid() == 0) (void)::setresuid(nobody_else, nobody_else, nobody_else);
    rlimit files{};
    testing::expect(::getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    files.rlim_cur = 64;
    testing::expect(::setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
    Side a(7), b(4);
    LocalListener listener = LocalListener::open().value(), other = LocalListener::open().value();
    const UniqueFd way = connect_locally(other.name()).value();
    const UniqueFd end = other.accept();
    std::array<std::byte, 1> message{};
    const std::array<int, most_handed_over> many{way.get(), way.get(), way.get(), way.get()};
    const auto fill = [&] {
      while (send_message(way, message, many).ok()) {
      }
    };
    const auto drain = [&] {
      for (HandedOver read; receive_message(end, message, read).ok();) read = {};
    };
    fill();
    auto dial = Introduction::dial(a.self, a.bell, 4, listener.name(), patience());
    testing::expect(dial.step().code() == Code::again, "the dialler waits: " + dial.why());
    testing::expect(dial.descriptor() < 0, "it is no stranger that says nothing");
    (void)listener.accept();
    drain();
    UniqueFd called;
    while (!called) {
      testing::expect(dial.step().code() == Code::again, "it calls again: " + dial.why());
      called = listener.accept();
    }
    fill();
    auto answer = Introduction::answer(b.self, b.bell, std::move(called), patience());
    while (!answer.has_heard()) testing::expect(answer.step().code() == Code::again, answer.why());
    drain();
    Status dialled = Code::again, answered = Code::again;
    while (dialled.code() == Code::again || answered.code() == Code::again) {
      if (answered.code() == Code::again) answered = answer.step();
      if (dialled.code() == Code::again) dialled = dial.step();
    }
    testing::expect(dialled.ok() && answered.ok(), "they know each other: " + dial.why() + answer.why());
    return std::string();
  });
  EXPECT_EQ(found, "");
}

// The message as transport/shm/README.md has it.
struct Forged {
  std::array<char, 8> magic{'\x89', 'P', 'A', 'R', 'L', 'E', 'Y', 'S'};
  std::uint16_t version = 3;
  std::uint8_t refusal = 0;
  std::uint8_t unused = 0;
  std::uint32_t from = 7;
  std::uint32_t to = 4;
  std::array<std::uint8_t, 16> job{1};
  std::uint32_t cells = 64;
  std::uint32_t payload_bytes = 4096;
  std::uint8_t result = 1;
  std::array<std::uint8_t, 3> zero{};
  std::uint64_t word_address = 0;
  std::uint64_t word = 0;
};
static_assert(sizeof(Forged) == 64);

// What comes of it at process 4.
Status answer_to(const Forged& message, const std::vector<int>& descriptors, std::string& why,
                 const std::optional<Forged>& confirmation = {}) {
  Side b(4);
  LocalListener listener = LocalListener::open().value();
  const UniqueFd forger = connect_locally(listener.name()).value();
  EXPECT_TRUE(send_message(forger, std::as_bytes(std::span(&message, 1)), descriptors).ok());
  auto answer = Introduction::answer(b.self, b.bell, listener.accept(), patience());
  Status status = answer.step();
  if (status.code() == Code::again) {
    const Forged last = confirmation.value_or(message);
    EXPECT_TRUE(send_message(forger, std::as_bytes(std::span(&last, 1)), {}).ok());
    status = answer.step();
  }
  why = answer.why();
  return status;
}

class ForgedIntroduction : public ::testing::Test {
 protected:
  Segment ring_ = Segment::create(ring_bytes({.cells = 64, .payload_bytes = 4096})).value();
  OwnBell bell_ = OwnBell::create().value();
  Segment board_ = Segment::create(board_segment_bytes).value();
  std::vector<int> descriptors_{ring_.fd(), bell_.page(), bell_.event(), board_.fd()};
  std::string why_;
};

TEST_F(ForgedIntroduction, ARightOneIsAccepted) {
  EXPECT_TRUE(answer_to({}, descriptors_, why_).ok()) << why_;
}

TEST_F(ForgedIntroduction, AnotherProtocolOrVersionIsRefused) {
  Forged message;
  message.magic[7] = 'X';
  EXPECT_EQ(answer_to(message, descriptors_, why_).code(), Code::protocol_violation);
  message = {};
  ++message.version;
  EXPECT_EQ(answer_to(message, descriptors_, why_).code(), Code::refused);
  EXPECT_EQ(why_, "the other process uses another release of Parley");
}

TEST_F(ForgedIntroduction, AConfirmationOfAnotherProtocolOrVersionIsRefused) {
  Forged last;
  last.magic[7] = 'X';
  EXPECT_EQ(answer_to({}, descriptors_, why_, last).code(), Code::protocol_violation);
  last = {};
  ++last.version;
  EXPECT_EQ(answer_to({}, descriptors_, why_, last).code(), Code::protocol_violation);
  EXPECT_EQ(why_, "the other process uses another release of Parley");
}

TEST_F(ForgedIntroduction, ImpossibleShapesAreRefused) {
  for (const auto& [cells, bytes] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 4096}, {63, 4096}, {64, 0}, {64, 4097}, {1U << 31, 4096}, {64, 1U << 31}, {~0U, ~0U}}) {
    Forged message;
    message.cells = cells;
    message.payload_bytes = bytes;
    EXPECT_EQ(answer_to(message, descriptors_, why_).code(), Code::protocol_violation)
        << cells << ' ' << bytes;
  }
}

TEST_F(ForgedIntroduction, ARingThatIsTooShortIsRefused) {
  Forged message;
  message.payload_bytes = 1U << 20;
  EXPECT_TRUE(answer_to(message, descriptors_, why_).failed());
}

TEST_F(ForgedIntroduction, MissingOrWrongDescriptorsAreRefused) {
  const UniqueFd event = base::make_event_fd();
  const int ring = ring_.fd(), page = bell_.page(), bell = bell_.event(), board = board_.fd();
  for (const auto& descriptors : std::vector<std::vector<int>>{{},
                                                               {ring},
                                                               {ring, page},
                                                               {ring, page, bell},
                                                               {event.get(), page, bell, board},
                                                               {ring, event.get(), bell, board},
                                                               {ring, page, page, board},
                                                               {ring, page, bell, event.get()}})
    EXPECT_TRUE(answer_to({}, descriptors, why_).failed()) << descriptors.size();
}

}  // namespace
}  // namespace parley::transport::shm
