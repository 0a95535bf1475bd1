#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace parley::socket {

// A file that holds a secret, and what is said when it cannot be used.
struct PrivateFile {
  std::string path;
  std::string what;         // "the cookie file"
  std::string way_out;      // completes "...; ": what else the user may do
  bool may_be_link = true;  // false: a symbolic link is refused
};

// Throws parley::SystemError: "cannot use WHAT PATH: WHY; WAY_OUT".
[[noreturn]] void fail(const PrivateFile& file, const std::string& why);
[[noreturn]] void fail(const PrivateFile& file, const char* step, int error);

// The whole content, nothing when there is no such file. Throws parley::SystemError unless it is a regular
// file of this user that nobody else may read or write, and no larger than `limit_bytes`. The checks are made
// on what was opened, so that it cannot be exchanged in between.
[[nodiscard]] std::optional<std::string> read_private_file(const PrivateFile& file, std::size_t limit_bytes);

}  // namespace parley::socket
