#pragma once

#include <string>

namespace parley::socket {

// Thread-safety: both may be called from any thread while nobody changes the environment.

// 32 random bytes as 64 hexadecimal digits. Throws parley::SystemError when the kernel gives none.
std::string make_secret();

// The job's secret: `explicit_secret` if not empty, else PARLEY_SECRET, else the user's cookie file
// ($XDG_CONFIG_HOME or ~/.config)/parley/cookie, made at first use with mode 0600 and refused (SystemError)
// when others can read it. Never logged. Warns once about a secret that is short enough to be guessed.
std::string resolve_secret(const std::string& explicit_secret);

}  // namespace parley::socket
