#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rendezvous/store_limits.h"
#include "transport/base/deadline.h"
#include "transport/base/unique_fd.h"

namespace parley::rendezvous {

// The file behind a file store: a header and a log of requests, shared by all who have the file open. Throws
// parley::StoreError, which names the file, when the system refuses.
//
// Layout: one page with the header, then the log. The header says which bytes of the log count. A writer puts
// its bytes behind them and makes them count by one write of 16 bytes, which no death can cut in two; what it
// had written before that is overwritten by the next one.
//
// Locks are those of open file descriptions (F_OFD_SETLK): they end with their owner, however it ends.
//   byte 0, exclusive: whoever reads or changes the log
//   byte 1, shared: everybody who has the file open. Who gets it exclusively is alone: the first one empties
//   what is left of others, the last one removes the file.
// Thread-safety: none.
class StoreFile {
 public:
  // Which bytes of the file are the log.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  // Opens the file, or makes it with these limits.
  StoreFile(std::string path, const TableLimits& limits, base::Deadline deadline);
  // Removes the file if nobody else has it open. REQUIRES: no forked child, which shares its parent's locks.
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  // Those of whoever made the file, so that everybody comes to the same result.
  [[nodiscard]] const TableLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Whether the log could be locked; false while another process has it.
  [[nodiscard]] bool try_lock();
  void unlock() noexcept;

  // May be asked without the lock: a change that another one is making now may or may not be seen.
  [[nodiscard]] Extent extent() const;
  // REQUIRES, these: the lock.
  // Reads from `offset` on; returns how many bytes there were.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  // Makes these bytes the log.
  void commit(const Extent& extent);
  // Gives the space before the log back to the system, where it can.
  void release_before(std::uint64_t offset) noexcept;

  static constexpr std::uint64_t log_offset = 4096;

 private:
  void open_it(base::Deadline deadline);
  bool join();
  void check_owner() const;
  void read_or_make_header();
  [[nodiscard]] bool is_still_there() const;
  bool lock_byte(int byte, short type) const;
  void leave() noexcept;
  [[noreturn]] void fail(const char* step, int error) const;
  [[noreturn]] void fail(const std::string& why) const;

  const std::string path_;
  TableLimits limits_;
  base::UniqueFd fd_;
};

}  // namespace parley::rendezvous
