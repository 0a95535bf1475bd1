#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "transport/base/unique_fd.h"

namespace parley::bench {

// Zeroed anonymous memory that two processes of one host map, in small pages, all of them there from the
// start. It vanishes with its last mapping. Errors: std::system_error.
class SharedMemory {
 public:
  // REQUIRES: bytes > 0.
  static SharedMemory create(std::size_t bytes);
  // The memory that process `owner` (same user) created and holds at descriptor `fd`.
  static SharedMemory open_from(pid_t owner, int fd);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // Page-aligned.
  [[nodiscard]] void* data() const noexcept { return mapping_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return mapping_.get_deleter().bytes; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const noexcept;
  };
  using Mapping = std::unique_ptr<void, Unmap>;
  SharedMemory(base::UniqueFd fd, std::size_t bytes);
  static Mapping map(int fd, std::size_t bytes);

  base::UniqueFd fd_;
  Mapping mapping_;
};

}  // namespace parley::bench
