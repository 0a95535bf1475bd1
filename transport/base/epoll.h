#pragma once

#include "transport/base/unique_fd.h"

namespace parley::base {

// Descriptors to sleep on, close-on-exec. All throw parley::ResourceError when there are no more descriptors,
// else SystemError.
UniqueFd make_epoll_set();
UniqueFd make_event_fd();
// `fd` readable makes `set` readable, level-triggered.
void add_readable(const UniqueFd& set, int fd);

// Makes an event descriptor readable, and no longer so.
void signal_event(const UniqueFd& event) noexcept;
void clear_event(const UniqueFd& event) noexcept;

// Throws the error of a system call that has set `error`.
[[noreturn]] void throw_system_error(const char* call, int error);

}  // namespace parley::base
