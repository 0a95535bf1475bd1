#include "tests/multiprocess/collectives/copies.h"

#include <parley/error.h>
#include <parley/init.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

std::atomic<std::size_t> copied_bytes = 0;
std::atomic<int> copy_error = 0;
double clock_of_stages = 1;

namespace {

constexpr std::size_t most_tried_bytes = 8;  // to find out whether it is possible
constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t to_ns(const timespec& time) {
  return time.tv_sec * second_ns + time.tv_nsec;
}

// A clock that has run at different speeds.
class Clock {
 public:
  std::int64_t read(std::int64_t real_ns) {
    const std::lock_guard lock(mutex_);
    return at(real_ns);
  }
  void run_at(double speed, std::int64_t real_ns) {
    const std::lock_guard lock(mutex_);
    own_ns_ = at(real_ns);
    since_ns_ = real_ns;
    speed_ = speed;
  }

 private:
  [[nodiscard]] std::int64_t at(std::int64_t real_ns) const {
    if (since_ns_ == 0) return real_ns;
    return own_ns_ + static_cast<std::int64_t>(static_cast<double>(real_ns - since_ns_) * speed_);
  }
  std::mutex mutex_;
  std::int64_t own_ns_ = 0, since_ns_ = 0;  // what it showed when its speed was set
  double speed_ = 1;
};
Clock& this_clock() {
  static Clock clock;
  return clock;
}

long read_real(clockid_t clock, timespec* now) {
  return syscall(SYS_clock_gettime, clock, now);
}

}  // namespace

ProcessGroup init_with_boards() {
  ProcessGroup world = init({.timeout = std::chrono::hours(100)});  // of a clock that may run fast
  warm_up(world);
  return world;
}

void keep_pace(schedule::Operation operation, std::size_t bytes) {
  static collective::CopyChoice same;  // as in the group, but for what it hears
  const auto call = same.next({operation, bytes});
  same.count({operation, bytes});
  const bool tries_stages = call.is_trial && call.way == collective::CopyChoice::Way::stages;
  timespec now{};
  read_real(CLOCK_MONOTONIC, &now);
  this_clock().run_at(tries_stages ? clock_of_stages : 1, to_ns(now));
}

void expect_failing_copies_to_end(ProcessGroup& world, int error, const std::function<void()>& call) {
  if (world.rank() == 1) copy_error = error;
  const auto failure = expect_throws<Error>(call);
  expect_contains(failure.what(), "failed there with rank 0");
  copy_error = 0;
  std::vector<int> word{world.rank()};
  if (world.rank() == 0)
    world.send(word, 1);
  else
    world.recv(word, 0);
  expect_equal(word[0], 0, "messages go on");
}

}  // namespace parley::testing

// All copies pass here: this comes before the C library's.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_count,
                                    const iovec* remote, unsigned long remote_count,
                                    unsigned long flags) noexcept {
  const bool is_trial = local->iov_len <= parley::testing::most_tried_bytes;
  if (const int error = parley::testing::copy_error; error != 0 && !is_trial) {
    errno = error;
    return -1;
  }
  const long got = syscall(SYS_process_vm_readv, process, local, local_count, remote, remote_count, flags);
  if (got > 0 && !is_trial) parley::testing::copied_bytes += static_cast<std::size_t>(got);
  return got;
}

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using namespace parley::testing;
  const auto result = static_cast<int>(read_real(clock, now));
  if (result != 0 || clock != CLOCK_MONOTONIC) return result;
  const std::int64_t shown = this_clock().read(to_ns(*now));
  *now = {shown / second_ns, shown % second_ns};
  return 0;
}
