// The ways to come by shared memory where the best one is closed, and what is said where all are.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/log.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "tests/contract/store/temporary_folder.h"
#include "tests/unit/shm/child.h"
#include "tests/unit/shm/refuse_calls.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {
namespace {

using ::testing::AllOf;
using testing::Child;
using testing::expect;
using ::testing::HasSubstr;
using testing::in_child;
using testing::refuse_calls;

// Where the memory came from, once every page of it was written and read, here and attached; else why there
// is none.
std::string try_to_use(std::size_t bytes) {
  const base::Result<Segment> made = Segment::create(bytes);
  if (!made) return made.failure().message;
  const base::Result<Segment> peers =
      Segment::attach(base::UniqueFd(fcntl(made.value().fd(), F_DUPFD_CLOEXEC, 0)), bytes);
  if (!peers) return peers.failure().message;
  for (std::size_t at = 0; at < made.value().size(); at += 512) {
    made.value().data()[at] = std::byte{5};
    if (peers.value().data()[at] != std::byte{5}) return "not shared";
  }
  return std::string(made.value().how());
}

bool is_empty(const std::string& folder) {
  return std::filesystem::directory_iterator(folder) == std::filesystem::directory_iterator();
}

TEST(SegmentWays, WithoutMemfdThereIsDevShm) {
  for (const int error : {ENOSYS, EPERM, EINVAL}) {
    EXPECT_EQ(in_child([error] {
                refuse_calls({testing::refused_memfd(error)});
                return try_to_use(3 << 20);
              }),
              "/dev/shm")
        << std::strerror(error);
  }
}

TEST(SegmentWays, OnceItIsSaidWhereMemoryLiesThatIsNoMemfd) {
  const std::string told = in_child([] {
    std::string lines;
    set_log_level(LogLevel::info);
    set_log_sink([&lines](const LogRecord& line) { lines += std::string(line.message) + '\n'; });
    expect(try_to_use(1) == "memfd" && lines.empty(), "of a memfd nothing is said: " + lines);
    refuse_calls({testing::refused_memfd(EPERM)});
    for (int i = 0; i < 3; ++i) expect(try_to_use(1) == "/dev/shm", "no memfd");
    set_log_sink({});
    return lines;
  });
  EXPECT_EQ(told, "shared memory lies in /dev/shm: memfd: memfd_create: Operation not permitted\n");
}

TEST(SegmentWays, ATinyDevShmDoesNoHarm) {
  EXPECT_EQ(in_child([] {
              testing::leave_mount_namespace();
              testing::mount_tmpfs("/dev/shm", "size=1m");
              unsetenv("TMPDIR");
              expect(try_to_use(4 << 20) == "memfd", "memfd does not live there");
              refuse_calls({testing::refused_memfd(EPERM)});
              expect(try_to_use(512 << 10) == "/dev/shm", "what fits is there");
              return try_to_use(4 << 20);
            }),
            "/tmp");
}

TEST(SegmentWays, AnUnwritableDevShmDoesNoHarm) {
  EXPECT_EQ(in_child([] {
              testing::leave_mount_namespace();
              testing::mount_tmpfs("/dev/shm", "size=1m", MS_RDONLY);
              unsetenv("TMPDIR");
              expect(try_to_use(1) == "memfd", "memfd does not live there");
              refuse_calls({testing::refused_memfd(EPERM)});
              return try_to_use(1);
            }),
            "/tmp");
}

TEST(SegmentWays, TheUsersTemporaryFolderComesBeforeTmp) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              testing::leave_mount_namespace();
              testing::mount_tmpfs("/dev/shm", "size=1m", MS_RDONLY);
              setenv("TMPDIR", folder.path().c_str(), 1);
              refuse_calls({testing::refused_memfd(EPERM)});
              return try_to_use(1);
            }),
            folder.path());
  EXPECT_TRUE(is_empty(folder.path()));
}

TEST(SegmentWays, TheLastOneIsAFileThatLosesItsName) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              setenv("TMPDIR", folder.path().c_str(), 1);
              refuse_calls({testing::refused_memfd(ENOSYS), testing::refused_unnamed_file()});
              return try_to_use(3 << 20);
            }),
            folder.path());
  EXPECT_TRUE(is_empty(folder.path()));
}

TEST(SegmentWays, AFailureNamesAllThatWasTried) {
  const std::string told = in_child([] {
    setenv("TMPDIR", "/nowhere", 1);
    refuse_calls(
        {testing::refused_memfd(EPERM), testing::refused_unnamed_file(), testing::refused_new_file()});
    return try_to_use(100);
  });
  EXPECT_EQ(told,
            "cannot make shared memory of 100 bytes: memfd: memfd_create: Operation not permitted; "
            "unnamed file in /dev/shm: open: Operation not supported; "
            "unnamed file in /nowhere: open: Operation not supported; "
            "unnamed file in /tmp: open: Operation not supported; "
            "unlinked file in /nowhere: open: Permission denied; "
            "unlinked file in /tmp: open: Permission denied");
}

TEST(SegmentWays, EachWayIsTriedWhenAsked) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              setenv("TMPDIR", folder.path().c_str(), 1);
              refuse_calls({testing::refused_memfd(EPERM), testing::refused_new_file()});
              std::string told;
              for (const Segment::TriedWay& way : Segment::try_all_ways(1))
                told += way.name + "=" + way.why_not + "; ";
              return told;
            }),
            "memfd=memfd_create: Operation not permitted; unnamed file in /dev/shm=; unnamed file in " +
                folder.path() + "=; unnamed file in /tmp=; unlinked file in " + folder.path() +
                "=open: Permission denied; unlinked file in /tmp=open: Permission denied; ");
  EXPECT_TRUE(is_empty(folder.path()));
  for (const Segment::TriedWay& way : Segment::try_all_ways(std::size_t{1} << 50))
    EXPECT_THAT(way.why_not, HasSubstr("this host has ")) << way.name;
}

// Bare ftruncate would succeed everywhere here, and writing would end the process by SIGBUS.
TEST(SegmentWays, MemoryThatIsNotThereIsAFailureNow) {
  const std::string told = in_child([] {
    testing::leave_mount_namespace();
    testing::mount_tmpfs("/dev/shm", "size=1m");
    testing::mount_tmpfs("/tmp", "size=1m");
    unsetenv("TMPDIR");
    refuse_calls({testing::refused_memfd(EPERM)});
    const std::string failure = try_to_use(4 << 20);
    // And nothing of it is kept.
    for (const char* folder : {"/dev/shm", "/tmp"}) {
      struct statvfs room {};
      expect(statvfs(folder, &room) == 0 && room.f_bfree == room.f_blocks && is_empty(folder), folder);
    }
    return failure;
  });
  EXPECT_THAT(told, AllOf(HasSubstr("unnamed file in /dev/shm: fallocate: No space left on device"),
                          HasSubstr("unnamed file in /tmp: fallocate: No space left on device"),
                          HasSubstr("unlinked file in /tmp: fallocate: No space left on device")));
}

// The kernel's own answer is SIGXFSZ.
TEST(SegmentWays, ALimitOfFileSizesIsSaidInWords) {
  EXPECT_EQ(
      in_child([] {
        const rlimit limit{1 << 20, 1 << 20};
        expect(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
        expect(try_to_use(1 << 20) == "memfd", "what is allowed");
        return try_to_use((1 << 20) + 1);
      }),
      "cannot make shared memory of 1048577 bytes: files of this process may have 1048576 bytes (ulimit -f)");
}

TEST(SegmentWays, MoreThanTheHostHasIsSaidInWords) {
  EXPECT_THAT(try_to_use(std::size_t{1} << 50), HasSubstr("bytes: this host has "));
  EXPECT_THAT(try_to_use(SIZE_MAX), HasSubstr("bytes: no address space holds them"));
}

TEST(SegmentWays, RunningOutOfDescriptorsIsSaidInWords) {
  // UBSan looks by way of a pipe at what it has not met yet, and says it is broken when there is none.
  (void)std::system_category().message(EMFILE);
  EXPECT_THAT(
      in_child([] {
        const rlimit limit{3, 3};
        expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
        return try_to_use(1);
      }),
      HasSubstr("memfd: memfd_create: Too many open files; unnamed file in /dev/shm: open: Too many"));
}

// Older kernels give an allocation up at each of them.
TEST(SegmentWays, AnAllocationSurvivesATimerOfSignals) {
  EXPECT_EQ(in_child([] {
              struct sigaction action {};
              action.sa_handler = [](int) {};
              sigaction(SIGUSR1, &action, nullptr);
              sigevent event{};
              event.sigev_notify = SIGEV_SIGNAL;
              event.sigev_signo = SIGUSR1;
              timer_t timer{};
              expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
              const itimerspec often{{0, 500'000}, {0, 500'000}};
              expect(timer_settime(timer, 0, &often, nullptr) == 0, "timer_settime");
              for (int i = 0; i < 5; ++i) {
                const std::string how = try_to_use(32 << 20);
                if (how != "memfd") return how;
              }
              return std::string();
            }),
            "");
}

// Makes segments until it is killed, the way by /dev/shm, which could leave something behind.
class Maker {
 public:
  Maker()
      : child_([] {
          refuse_calls({testing::refused_memfd(EPERM)});
          for (;;) {
            const base::Result<Segment> first = Segment::create(64 << 10);
            const base::Result<Segment> second = Segment::create(2 << 20);
            if (!first || !second) return std::string("no memory");
          }
        }) {}
  std::string kill_9() {
    kill(child_.pid(), SIGKILL);
    return child_.finish();
  }

 private:
  Child child_;
};

bool is_as_before(const struct statvfs& before) {
  struct statvfs now {};
  return statvfs("/dev/shm", &now) == 0 && now.f_bfree == before.f_bfree && now.f_ffree == before.f_ffree;
}

// Who looks at a process in /proc may keep its memory for a moment after its end.
bool comes_back(const std::function<bool()>& is_back) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_back()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(SegmentWays, Kill9LeavesNothing) {
  const std::uint32_t seed = std::random_device()();
  EXPECT_EQ(in_child([seed] {
              testing::leave_mount_namespace();
              testing::mount_tmpfs("/dev/shm", "size=64m");
              struct statvfs before {};
              expect(statvfs("/dev/shm", &before) == 0, "statvfs");
              std::mt19937 random(seed);
              for (int i = 0; i < 50; ++i) {
                Maker maker;
                // Any moment will do; a few are in the middle of a call.
                std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 5000));
                expect(maker.kill_9() == "ended by signal Killed", "it was at work");
                expect(is_empty("/dev/shm"), "no file is left");
                expect(comes_back([&] { return is_as_before(before); }), "no memory is kept");
              }
              return std::string();
            }),
            "")
      << "seed " << seed;
}

}  // namespace
}  // namespace parley::transport::shm
