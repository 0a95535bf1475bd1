#include "rendezvous/store_file.h"

#include <fcntl.h>
#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <thread>
#include <utility>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

constexpr int log_byte = 0;
constexpr int user_byte = 1;
constexpr auto lock_pause = std::chrono::microseconds(200);
// For the last look before the file is closed: somebody who was stopped may hold the log for ever.
constexpr auto leave_patience = std::chrono::seconds(1);

// The first bytes of the file, little endian as everything that Parley writes.
struct Header {
  std::array<char, 8> magic{'P', 'A', 'R', 'L', 'E', 'Y', 'F', '1'};
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t keys = 0;
  StoreFile::Extent extent{StoreFile::log_offset, StoreFile::log_offset};
};
static_assert(sizeof(Header) == 56);
constexpr auto extent_offset = static_cast<off_t>(offsetof(Header, extent));

}  // namespace

StoreFile::StoreFile(std::string path, const TableLimits& limits, base::Deadline deadline)
    : path_(std::move(path)), limits_(limits) {
  open_it(deadline);
}

StoreFile::~StoreFile() {
  if (fd_) leave();
}

void StoreFile::fail(const std::string& why) const {
  ErrorDetails details;
  details.operation = "store file";
  throw StoreError(base::concat("store file ", path_, ": ", why), details);
}

void StoreFile::fail(const char* step, int error) const {
  fail(base::concat(step, ": ", std::system_category().message(error)));
}

bool StoreFile::lock_byte(int byte, short type) const {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  for (;;) {
    if (::fcntl(fd_.get(), F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) fail("locking it", errno);
  }
}

bool StoreFile::try_lock() {
  return lock_byte(log_byte, F_WRLCK);
}

void StoreFile::unlock() noexcept try { lock_byte(log_byte, F_UNLCK); } catch (const StoreError& error) {
  PARLEY_LOG(warn, "store", error.what());
}

void StoreFile::open_it(base::Deadline deadline) {
  for (;;) {
    fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
    if (!fd_) fail("opening it", errno);
    check_owner();
    while (!try_lock()) {
      if (deadline.expired()) fail("another process keeps it locked");
      std::this_thread::sleep_for(lock_pause);
    }
    const bool joined = join();
    unlock();
    if (joined) return;
  }
}

// False when the last user removed the file between our open() and our lock.
bool StoreFile::join() {
  if (!is_still_there()) return false;
  read_or_make_header();
  if (!lock_byte(user_byte, F_RDLCK)) fail("its locks are not those of a store");
  return true;
}

void StoreFile::check_owner() const {
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0) fail("looking at it", errno);
  if (!S_ISREG(facts.st_mode)) fail("it is not a regular file");
  if (facts.st_uid != ::geteuid())
    fail(base::concat("it belongs to user ", facts.st_uid, ", not to ", ::geteuid()));
  if ((facts.st_mode & 022) != 0) fail("others may write it: make it private by chmod 600, or remove it");
}

bool StoreFile::is_still_there() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(fd_.get(), &ours) != 0) fail("looking at it", errno);
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno == ENOENT) return false;
    fail("looking at it", errno);
  }
  return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

void StoreFile::read_or_make_header() {
  Header header;
  const Header fresh;
  const std::size_t size = read(0, std::as_writable_bytes(std::span(&header, 1)));
  const bool is_store = size == sizeof(header) && header.magic == fresh.magic;
  if (size != 0 && !is_store) fail("it holds something else than a store; it is not touched");
  if (lock_byte(user_byte, F_WRLCK)) {  // nobody uses it: what is there is left over
    if (::ftruncate(fd_.get(), 0) != 0) fail("emptying it", errno);
    header = fresh;
    header.key_bytes = limits_.key_bytes;
    header.value_bytes = limits_.value_bytes;
    header.total_bytes = limits_.total_bytes;
    header.keys = limits_.keys;
    return write(0, std::as_bytes(std::span(&header, 1)));
  }
  if (!is_store || header.value_bytes < 1 || header.value_bytes > largest_limits.value_bytes ||
      header.key_bytes < 1 || header.key_bytes > largest_limits.key_bytes)
    fail("its header is damaged");
  limits_ = table_limits({header.key_bytes, header.value_bytes});
  limits_.total_bytes = header.total_bytes;
  limits_.keys = header.keys;
}

StoreFile::Extent StoreFile::extent() const {
  Extent extent;
  for (;;) {
    const ssize_t count = ::pread(fd_.get(), &extent, sizeof(extent), extent_offset);
    if (count == sizeof(extent)) return extent;
    if (count >= 0) fail("it was cut short");
    if (errno != EINTR) fail("reading it", errno);
  }
}

std::size_t StoreFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t count =
        ::pread(fd_.get(), out.data() + have, out.size() - have, static_cast<off_t>(offset + have));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) fail("reading it", errno);
    if (count > 0) have += static_cast<std::size_t>(count);
  }
  return have;
}

void StoreFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno != EINTR) fail("writing it", errno);
    if (count <= 0) continue;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void StoreFile::commit(const Extent& extent) {
  write(static_cast<std::uint64_t>(extent_offset), std::as_bytes(std::span(&extent, 1)));
}

void StoreFile::release_before(std::uint64_t offset) noexcept {
  if (::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(log_offset),
                  static_cast<off_t>(offset - log_offset)) != 0)
    PARLEY_LOG(debug, "store", "store file ", path_,
               " keeps old space: ", std::system_category().message(errno));
}

void StoreFile::leave() noexcept try {
  const auto deadline = base::Deadline::after(leave_patience);
  while (!try_lock()) {
    if (deadline.expired()) return;
    std::this_thread::sleep_for(lock_pause);
  }
  if (is_still_there() && lock_byte(user_byte, F_WRLCK)) ::unlink(path_.c_str());
  fd_.reset();
} catch (const std::exception& error) {
  PARLEY_LOG(warn, "store", error.what());
}

}  // namespace parley::rendezvous
