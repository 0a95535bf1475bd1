#pragma once

#include <string>

namespace parley::socket {

// "$XDG_CONFIG_HOME/parley/cookie" if that variable is an absolute path, else "~/.config/parley/cookie".
// Throws parley::SystemError when the user has no home.
[[nodiscard]] std::string cookie_path();

// The cookie in that file; makes file and folders when they are missing, so that processes that start at the
// same moment all get the same cookie. Throws parley::SystemError, which names the file and what to do, when
// it is no file of this user alone, is damaged, or cannot be made.
[[nodiscard]] std::string read_or_make_cookie(const std::string& path);

}  // namespace parley::socket
