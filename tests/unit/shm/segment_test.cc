// Memory that processes share: what a segment is, and which descriptors are refused.
#include "transport/shm/segment.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/pass_descriptors.h"

namespace parley::transport::shm {
namespace {

using testing::Child;
using testing::duplicate;
using testing::expect;
using ::testing::HasSubstr;
using testing::in_child;

const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

Segment make(std::size_t bytes) {
  base::Result<Segment> made = Segment::create(bytes);
  if (!made) throw std::runtime_error(made.failure().message);
  return std::move(made).value();
}

base::UniqueFd memfd_of(std::size_t bytes, unsigned flags, int seals = 0) {
  base::UniqueFd fd(memfd_create("test", MFD_CLOEXEC | flags));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_TRUE(seals == 0 || fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

TEST(Segment, IsWholeZeroedPages) {
  const Segment segment = make(page_bytes + 1);
  EXPECT_EQ(segment.size(), 2 * page_bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment.data()) % page_bytes, 0U);
  EXPECT_TRUE(std::all_of(segment.data(), segment.data() + segment.size(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  EXPECT_EQ(segment.how(), "memfd");
  EXPECT_EQ(make(page_bytes).size(), page_bytes);
}

TEST(Segment, HasAllItsMemoryFromTheBeginning) {
  const std::size_t bytes = 5 << 20;  // several pieces of allocation
  const Segment segment = make(bytes);
  struct stat facts {};
  ASSERT_EQ(fstat(segment.fd(), &facts), 0);
  EXPECT_GE(static_cast<std::size_t>(facts.st_blocks) * 512, bytes);
  EXPECT_EQ(static_cast<std::size_t>(facts.st_size), segment.size());
}

TEST(Segment, IsNotInheritedByPrograms) {
  const Segment segment = make(1);
  EXPECT_EQ(fcntl(segment.fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Segment, LivesOnWithoutItsDescriptor) {
  Segment segment = make(1);
  segment.close_fd();
  EXPECT_EQ(segment.fd(), -1);
  segment.data()[page_bytes - 1] = std::byte{7};
  EXPECT_EQ(segment.data()[page_bytes - 1], std::byte{7});
}

TEST(Segment, Moves) {
  Segment first = make(1);
  std::byte* const data = first.data();
  data[0] = std::byte{1};
  Segment second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.data(), data);
  Segment third = make(3 * page_bytes);
  std::byte* const replaced = third.data();
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.data()[0], std::byte{1});
  EXPECT_EQ(third.size(), page_bytes);
  // What it was before is unmapped.
  std::array<unsigned char, 3> resident{};
  EXPECT_EQ(mincore(replaced, 3 * page_bytes, resident.data()), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Segment, IsSharedWithAnotherProcess) {
  const Segment segment = make(2 * page_bytes);
  const auto [here, there] = testing::make_sockets();
  // The descriptor comes by the socket; the child does not use what it inherited.
  Child child([&socket = there] {
    base::Result<Segment> peers = Segment::attach(testing::take_descriptor(socket), 2 * page_bytes);
    if (!peers) return peers.failure().message;
    expect(peers.value().size() == 2 * page_bytes && peers.value().how() == "memfd",
           "attached as it was made");
    expect(std::strcmp(reinterpret_cast<const char*>(peers.value().data()), "from here") == 0, "reads ours");
    std::strcpy(reinterpret_cast<char*>(peers.value().data()) + page_bytes, "from there");
    return std::string();
  });
  std::strcpy(reinterpret_cast<char*>(segment.data()), "from here");
  testing::pass_descriptor(here, segment.fd());
  EXPECT_EQ(child.finish(), "");
  EXPECT_STREQ(reinterpret_cast<const char*>(segment.data()) + page_bytes, "from there");
}

TEST(Segment, IsSharedWithAForkedChild) {
  const Segment segment = make(1);
  EXPECT_EQ(in_child([&] {
              segment.data()[0] = std::byte{9};
              return std::string();
            }),
            "");
  EXPECT_EQ(segment.data()[0], std::byte{9});
}

TEST(Segment, NobodyCanChangeItsSize) {
  const Segment segment = make(2 * page_bytes);
  const base::UniqueFd peers = duplicate(segment.fd());
  EXPECT_EQ(ftruncate(peers.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(peers.get(), static_cast<off_t>(3 * page_bytes)), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(peers.get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(Segment, OfNoBytesIsRefused) {
  const base::Result<Segment> made = Segment::create(0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.failure().status.code(), base::Code::invalid_argument);
}

void expect_refused(base::UniqueFd fd, std::size_t bytes, const char* why) {
  const base::Result<Segment> made = Segment::attach(std::move(fd), bytes);
  ASSERT_FALSE(made) << why;
  EXPECT_EQ(made.failure().status.code(), base::Code::protocol_violation);
  EXPECT_THAT(made.failure().message, HasSubstr("the peer's shared memory is refused"));
  EXPECT_THAT(made.failure().message, HasSubstr(why));
}

TEST(AttachedSegment, MayNotBeShorterThanItIsSaidToBe) {
  const Segment segment = make(2 * page_bytes);
  EXPECT_TRUE(Segment::attach(duplicate(segment.fd()), page_bytes));
  EXPECT_TRUE(Segment::attach(duplicate(segment.fd()), 2 * page_bytes));
  expect_refused(duplicate(segment.fd()), 2 * page_bytes + 1, "bytes, and not");
  expect_refused(duplicate(segment.fd()), 0, "0 bytes");
  expect_refused(duplicate(segment.fd()), SIZE_MAX, "bytes");
  // Too short within its last page only.
  expect_refused(memfd_of(100, MFD_ALLOW_SEALING, F_SEAL_SHRINK), 100, "it has 100 bytes");
}

TEST(AttachedSegment, MayNotShrink) {
  expect_refused(memfd_of(page_bytes, MFD_ALLOW_SEALING), page_bytes, "could still shrink");
  expect_refused(memfd_of(page_bytes, MFD_ALLOW_SEALING, F_SEAL_GROW), page_bytes, "could still shrink");
  expect_refused(memfd_of(page_bytes, MFD_ALLOW_SEALING, F_SEAL_SEAL), page_bytes, "could still shrink");
  expect_refused(memfd_of(page_bytes, 0), page_bytes, "could still shrink");
  EXPECT_TRUE(Segment::attach(memfd_of(page_bytes, MFD_ALLOW_SEALING, F_SEAL_SHRINK), page_bytes));
}

TEST(AttachedSegment, IsAFile) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  expect_refused(base::UniqueFd(ends[0]), 1, "not a file");
  expect_refused(base::UniqueFd(ends[1]), 1, "not a file");
  expect_refused(testing::make_sockets().first, 1, "not a file");
  expect_refused(base::UniqueFd(eventfd(0, EFD_CLOEXEC)), 1, "not a file");
  expect_refused(base::UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC)), 1, "not a file");
  expect_refused(base::UniqueFd(open("/tmp", O_RDONLY | O_CLOEXEC)), 1, "not a file");
  expect_refused(base::UniqueFd(), 1, "fstat");
}

TEST(AttachedSegment, HasNoName) {
  std::string name = "/tmp/parley-test-XXXXXX";
  base::UniqueFd named(mkostemp(name.data(), O_CLOEXEC));
  ASSERT_EQ(ftruncate(named.get(), static_cast<off_t>(page_bytes)), 0);
  expect_refused(duplicate(named.get()), page_bytes, "a name");
  ASSERT_EQ(unlink(name.c_str()), 0);
  const base::Result<Segment> unnamed = Segment::attach(std::move(named), page_bytes);
  ASSERT_TRUE(unnamed) << unnamed.failure().message;
  EXPECT_EQ(unnamed.value().how(), "file");
}

TEST(AttachedSegment, IsWritable) {
  const Segment segment = make(1);
  const std::string link = "/proc/self/fd/" + std::to_string(segment.fd());
  const base::Result<Segment> made =
      Segment::attach(base::UniqueFd(open(link.c_str(), O_RDONLY | O_CLOEXEC)), page_bytes);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.failure().status.code(), base::Code::exhausted);
  EXPECT_THAT(made.failure().message,
              HasSubstr("cannot map the peer's shared memory: mmap: Permission denied"));
}

}  // namespace
}  // namespace parley::transport::shm
