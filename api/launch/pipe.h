#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "transport/base/unique_fd.h"

namespace parley::launch {

struct Pipe {
  base::UniqueFd read;
  base::UniqueFd write;
};

// A pipe, close-on-exec, with no end among descriptors 0 to 2 (which a child replaces). Throws SystemError.
Pipe make_pipe();

// write(2) that reports a missing reader as EPIPE and raises no SIGPIPE, whatever the process does with that
// signal. Retries after EINTR.
ssize_t write_quietly(int fd, std::string_view bytes) noexcept;

// Throws SystemError: `what` and the reason in errno.
[[noreturn]] void throw_system_error(const std::string& what);

}  // namespace parley::launch
