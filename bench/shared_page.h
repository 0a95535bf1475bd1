#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "transport/base/unique_fd.h"

namespace parley::bench {

// One page of zeroed anonymous memory that two processes of one host map. It vanishes with its last mapping.
// Errors: std::system_error.
class SharedPage {
 public:
  static constexpr std::size_t bytes = 4096;

  static SharedPage create();
  // The page that process `owner` (same user) created and holds at descriptor `fd`.
  static SharedPage open_from(pid_t owner, int fd);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] void* data() const noexcept { return mapping_.get(); }

 private:
  struct Unmap {
    void operator()(void* memory) const noexcept;
  };
  explicit SharedPage(base::UniqueFd fd);

  base::UniqueFd fd_;
  std::unique_ptr<void, Unmap> mapping_;
};

}  // namespace parley::bench
