// Messages whose sizes and offsets need more than 31 and more than 32 bits.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/traffic/plan.h"
#include "tests/sanitizer.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20;

// Sanitizers look at each access to each byte: there the test of more than 4 GiB has to do.
const std::size_t beyond_31_bits = slowness() > 1 ? 64 * mib + 5 : 2048 * mib + 3 * mib + 5;
constexpr std::size_t beyond_32_bits = sanitizer::watches_threads ? 64 * mib + 5 : 4096 * mib + 3 * mib + 5;

// Address space in which the same memory comes again and again: gigabytes to send and receive for the price
// of one period. The period is no multiple of a piece on the wire, so a piece at a wrong place is seen.
class PeriodicMemory {
 public:
  static constexpr std::size_t period = 37 * mib + 4096 * 3;

  explicit PeriodicMemory(std::size_t bytes) : bytes_((bytes + period - 1) / period * period) {
    void* start = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(start != MAP_FAILED, "mmap");
    data_ = static_cast<std::byte*>(start);
    const int fd = memfd_create("periodic", MFD_CLOEXEC);
    require(fd >= 0 && ftruncate(fd, static_cast<off_t>(period)) == 0, "memfd_create");
    for (std::size_t offset = 0; offset < bytes_; offset += period)
      require(
          mmap(data_ + offset, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED,
          "mmap of a period");
    close(fd);
  }
  ~PeriodicMemory() { munmap(data_, bytes_); }
  PeriodicMemory(const PeriodicMemory&) = delete;
  PeriodicMemory& operator=(const PeriodicMemory&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  static void require(bool condition, const char* what) {
    if (!condition) throw std::system_error(errno, std::system_category(), what);
  }
  std::size_t bytes_;
  std::byte* data_;
};

Content content_of(std::uint64_t number) {
  return {6, 0, 1, 0, number};
}

// Every byte is checked. Memory: 4 GiB for both ranks.
TEST(Sizes, AMessageOfMoreThan2GiB) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        const std::unique_ptr<std::byte[]> data(new std::byte[beyond_31_bits]);  // not touched here
        world.barrier();
        if (rank == 0) {
          content_of(1).fill(data.get(), beyond_31_bits);
          Work work = world.isend(Tensor::bytes(data.get(), beyond_31_bits), 1, {.tag = 3});
          work.wait();
          expect_equal(work.bytes(), beyond_31_bits, "bytes of the send");
          return;
        }
        const RecvStatus status = world.recv(Tensor::bytes(data.get(), beyond_31_bits), 0, {.tag = any_tag});
        expect_equal(status.bytes, beyond_31_bits, "bytes");
        expect_equal(status.tag, std::int64_t{3}, "tag");
        expect_equal(content_of(1).first_wrong(data.get(), beyond_31_bits), beyond_31_bits,
                     "first wrong byte");
      },
      {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

// In both directions at once, probed first on one side, into a buffer that is longer on the other.
TEST(Sizes, MessagesOfMoreThan4GiBBothWays) {
  const int code =
      run_ranks(2,
                [](int rank, int) {
                  ProcessGroup world = init();
                  const std::size_t room = beyond_32_bits + (rank == 0 ? 1000 : 0);
                  const PeriodicMemory out(beyond_32_bits), in(room);
                  const auto own = static_cast<std::uint64_t>(rank);
                  content_of(own).fill(out.data(), PeriodicMemory::period);
                  world.barrier();
                  Work sent = world.isend(Tensor::bytes(out.data(), beyond_32_bits), 1 - rank);
                  RecvStatus status;
                  if (rank == 0) {
                    status = world.recv(Tensor::bytes(in.data(), room), 1);
                  } else {
                    Message message = world.probe(0);
                    expect_equal(message.bytes(), beyond_32_bits, "bytes of the probed message");
                    status = message.recv(Tensor::bytes(in.data(), room));
                  }
                  expect_equal(status.bytes, beyond_32_bits, "bytes");
                  sent.wait();
                  expect_equal(content_of(1 - own).first_wrong(in.data(), PeriodicMemory::period),
                               PeriodicMemory::period, "first wrong byte");
                },
                {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

// The sizes in the error have all their digits, and the link goes on.
TEST(Sizes, ATruncatedMessageOfMoreThan4GiB) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        if (rank == 0) {
          const PeriodicMemory out(beyond_32_bits);
          world.send(Tensor::bytes(out.data(), beyond_32_bits), 1);
          world.send(5, 1);
          return;
        }
        std::byte one{};
        const auto error = expect_throws<TruncationError>([&] { world.recv(Tensor::bytes(&one, 1), 0); });
        expect_equal(error.details().message_bytes, beyond_32_bits, "message");
        expect_contains(error.what(), std::to_string(beyond_32_bits) + " B");
        expect_equal(world.recv<int>(0), 5, "the next message");
      },
      {.timeout = 120s});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
