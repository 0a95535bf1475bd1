#pragma once

#include <optional>
#include <string>

#include "transport/socket/identity.h"

namespace parley::socket {

// Thread-safety: all may be called from any thread while nobody changes the environment.

// 32 random bytes as 64 hexadecimal digits. Throws parley::SystemError when the kernel gives none.
std::string make_secret();

// What the file named by PARLEY_SECRET_FILE holds, without a newline at its end; nothing when the variable is
// not set. Throws parley::SystemError when the file is missing, empty or longer than 4096 bytes, belongs to
// another user, or may be read or written by others.
std::optional<std::string> secret_of_file();

// The job's secret: `explicit_secret` if not empty, else that of PARLEY_SECRET_FILE, else PARLEY_SECRET (by
// which a launcher passes on the one it made), else the user's cookie file ($XDG_CONFIG_HOME or ~/.config)
// /parley/cookie, made at first use with mode 0600 and refused (SystemError) when others can read it. Never
// logged. Warns once about a secret that is short enough to be guessed.
std::string resolve_secret(const std::string& explicit_secret);

// What the ends of a store's connections prove to know: jobs of one user may meet at one port with one
// secret, so that what tells them apart (run id, Slurm step; empty: nothing does) becomes part of it.
std::string secret_of_job(const std::string& secret, const std::string& job);

// Whether this process proves anything in its handshakes (PARLEY_AUTH) and whether connections are encrypted:
// `tls`, else PARLEY_TLS=1; without the secret, which is not looked for. Throws parley::UsageError when
// PARLEY_AUTH is neither on nor off, PARLEY_TLS neither 0 nor 1, or there can be no TLS: without
// authentication, or in a build without OpenSSL.
Credentials resolve_settings(std::optional<bool> tls);

// The same with what is proved, but for the job: the secret above, or nothing at all when PARLEY_AUTH=off,
// which wins over every secret.
Credentials resolve_credentials(const std::string& explicit_secret, std::optional<bool> tls);

}  // namespace parley::socket
