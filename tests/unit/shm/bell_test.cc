// The doorbell between processes, seen from one: what rings, what does not, what is refused.
#include "transport/shm/bell.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pass_descriptors.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {
namespace {

using testing::duplicate;
using testing::expect;
using ::testing::HasSubstr;
using testing::in_child;

OwnBell make_bell() {
  base::Result<OwnBell> made = OwnBell::create();
  if (!made) throw std::runtime_error(made.failure().message);
  return std::move(made).value();
}

PeerBell attach_to(const OwnBell& bell) {
  base::Result<PeerBell> made = PeerBell::attach(duplicate(bell.page()), duplicate(bell.event()));
  if (!made) throw std::runtime_error(made.failure().message);
  return std::move(made).value();
}

// How often it was signalled since it was last cleared. Clears it.
std::uint64_t count_signals(const OwnBell& bell) {
  eventfd_t count = 0;
  return eventfd_read(bell.event(), &count) == 0 ? count : 0;
}

bool is_readable(const OwnBell& bell) {
  pollfd watched{bell.event(), POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

// The owner's page, as a hostile peer sees it.
Segment page_of(const OwnBell& bell) {
  base::Result<Segment> page = Segment::attach(duplicate(bell.page()), sizeof(BellPage));
  if (!page) throw std::runtime_error(page.failure().message);
  return std::move(page).value();
}

std::atomic<std::uint32_t>& word_of(const Segment& page) {
  return reinterpret_cast<BellPage*>(page.data())->word;
}

class Bell : public ::testing::Test {
 protected:
  OwnBell bell_ = make_bell();
  PeerBell writer_ = attach_to(bell_);
  PeerBell other_writer_ = attach_to(bell_);
};

TEST_F(Bell, IsNotRungForOneWhoIsAwake) {
  for (int i = 0; i < 1000; ++i) writer_.ring_if_asleep();
  EXPECT_EQ(count_signals(bell_), 0U);
  bell_.announce();
  bell_.cancel();
  writer_.ring_if_asleep();
  EXPECT_EQ(count_signals(bell_), 0U);
}

TEST_F(Bell, IsRungOnceForABurst) {
  bell_.announce();
  EXPECT_FALSE(is_readable(bell_));
  for (int i = 0; i < 100; ++i) {
    writer_.ring_if_asleep();
    other_writer_.ring_if_asleep();
  }
  EXPECT_TRUE(is_readable(bell_));
  EXPECT_EQ(count_signals(bell_), 1U);
}

TEST_F(Bell, IsRungForEachSleep) {
  for (int i = 0; i < 10; ++i) {
    bell_.announce();
    (i % 2 == 0 ? writer_ : other_writer_).ring_if_asleep();
    EXPECT_TRUE(is_readable(bell_));
    bell_.cancel();
    EXPECT_FALSE(is_readable(bell_));
  }
}

TEST_F(Bell, ForgetsALateSignal) {
  // The writer has taken the word away, and signals after the sleeper was woken by something else.
  bell_.announce();
  const Segment page = page_of(bell_);
  EXPECT_EQ(word_of(page).exchange(BellPage::awake), BellPage::asleep);
  bell_.cancel();
  ASSERT_EQ(eventfd_write(bell_.event(), 1), 0);
  bell_.announce();
  EXPECT_TRUE(is_readable(bell_));  // one sleep in vain
  bell_.cancel();
  bell_.announce();
  EXPECT_FALSE(is_readable(bell_));
  bell_.cancel();
}

TEST_F(Bell, CancelDoesNothingUnlessAnnounced) {
  ASSERT_EQ(eventfd_write(bell_.event(), 1), 0);
  bell_.cancel();
  EXPECT_TRUE(is_readable(bell_));
}

TEST_F(Bell, MovesWithItsPage) {
  OwnBell moved = std::move(bell_);
  PeerBell writer = std::move(writer_);
  moved.announce();
  writer.ring_if_asleep();
  EXPECT_EQ(count_signals(moved), 1U);
}

TEST_F(Bell, OutlivesItsOwnerAtTheWriters) {
  bell_.announce();
  { const OwnBell gone = std::move(bell_); }
  writer_.ring_if_asleep();
  writer_.ring_if_asleep();
}

TEST_F(Bell, ItsWordTellsWhetherTheOwnerSleepsAndOutlivesBothEnds) {
  const std::shared_ptr<const std::atomic<std::uint32_t>> word = writer_.word();
  EXPECT_EQ(*word, BellPage::awake);
  bell_.announce();
  EXPECT_EQ(*word, BellPage::asleep);
  writer_.ring_if_asleep();
  EXPECT_EQ(*word, BellPage::awake);
  bell_.announce();
  {
    const OwnBell gone = std::move(bell_);
    const PeerBell link_has_ended = std::move(writer_);
  }
  EXPECT_EQ(*word, BellPage::asleep);
}

TEST_F(Bell, AHostilePageCostsSystemCallsAndSleep) {
  const Segment page = page_of(bell_);
  // A word that nobody of ours writes is taken for `asleep`.
  word_of(page) = 0xffffffff;
  writer_.ring_if_asleep();
  writer_.ring_if_asleep();
  EXPECT_EQ(count_signals(bell_), 1U);
  // An owner whose word was taken away is not rung, and is well at its next sleep.
  bell_.announce();
  word_of(page) = BellPage::awake;
  writer_.ring_if_asleep();
  EXPECT_FALSE(is_readable(bell_));
  bell_.cancel();
  bell_.announce();
  writer_.ring_if_asleep();
  EXPECT_TRUE(is_readable(bell_));
  // A counter at its end is readable and takes no more; nobody waits for it.
  bell_.cancel();
  ASSERT_EQ(eventfd_write(bell_.event(), 0xfffffffffffffffe), 0);
  bell_.announce();
  writer_.ring_if_asleep();
  EXPECT_TRUE(is_readable(bell_));
  bell_.cancel();
  EXPECT_FALSE(is_readable(bell_));
}

void expect_refused(base::UniqueFd page, base::UniqueFd event, const char* why) {
  const base::Result<PeerBell> made = PeerBell::attach(std::move(page), std::move(event));
  ASSERT_FALSE(made) << why;
  EXPECT_EQ(made.failure().status.code(), base::Code::protocol_violation);
  EXPECT_THAT(made.failure().message, HasSubstr(why));
}

TEST(PeerBell, RefusesDescriptorsThatAreNoBell) {
  const OwnBell bell = make_bell();
  expect_refused(duplicate(bell.event()), duplicate(bell.event()), "not a file");
  expect_refused(duplicate(bell.page()), duplicate(bell.page()), "not an event descriptor");
  expect_refused(duplicate(bell.page()), base::UniqueFd(), "not an event descriptor");
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd read_end(ends[0]);
  expect_refused(duplicate(bell.page()), base::UniqueFd(ends[1]), "not an event descriptor");
  expect_refused(duplicate(bell.page()), testing::make_sockets().first, "not an event descriptor");
  base::UniqueFd empty(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  expect_refused(std::move(empty), duplicate(bell.event()), "it has 0 bytes");
}

TEST(OwnBell, ItsDescriptorsAreNotInheritedByPrograms) {
  const OwnBell bell = make_bell();
  EXPECT_EQ(fcntl(bell.event(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(fcntl(bell.page(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(OwnBell, SaysInWordsThatThereAreNoDescriptors) {
  EXPECT_EQ(in_child([] {
              // Room for the page, and for nothing else.
              base::UniqueFd next = duplicate(0);
              const auto most = static_cast<rlim_t>(next.get()) + 1;
              next.reset();
              const rlimit limit{most, most};
              expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
              const base::Result<OwnBell> made = OwnBell::create();
              expect(!made && made.failure().status.code() == base::Code::exhausted, "it fails");
              return made.failure().message;
            }),
            "cannot make a doorbell: eventfd: Too many open files");
}

}  // namespace
}  // namespace parley::transport::shm
