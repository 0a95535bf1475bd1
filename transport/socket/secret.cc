#include "transport/socket/secret.h"

#include <parley/error.h>

#include <array>
#include <atomic>

#include "transport/base/env.h"
#include "transport/base/log.h"
#include "transport/socket/cookie_file.h"
#include "transport/socket/private_file.h"
#include "transport/socket/random.h"
#include "transport/socket/refusal.h"
#include "transport/socket/secure_stream.h"

namespace parley::socket {
namespace {

// Who records a handshake can try secrets at leisure; 16 random characters are out of reach.
constexpr std::size_t unguessable_length = 16;
constexpr std::size_t longest_secret_file = 4096;

void warn_if_short(const std::string& secret) {
  static std::atomic<bool> warned{false};
  if (secret.size() >= unguessable_length || warned.exchange(true)) return;
  PARLEY_LOG(warn, "socket", "the job's secret is shorter than ", unguessable_length,
             " characters and may be guessed");
}

bool tls_of_environment() {
  const std::string setting = base::env_string("PARLEY_TLS").value_or("0");
  if (setting != "0" && setting != "1")
    throw UsageError(base::concat("PARLEY_TLS=", setting, " is neither 0 nor 1"));
  return setting == "1";
}

}  // namespace

std::string make_secret() {
  std::array<std::byte, 32> bytes;
  if (!fill_random(bytes)) throw SystemError("cannot make a secret: the kernel gives no random bytes");
  return to_hex(bytes);
}

std::optional<std::string> secret_of_file() {
  const auto path = base::env_string("PARLEY_SECRET_FILE");
  if (!path) return std::nullopt;
  const PrivateFile file{.path = *path, .what = "the secret file", .way_out = "or unset PARLEY_SECRET_FILE"};
  auto secret = read_private_file(file, longest_secret_file);
  if (!secret) fail(file, "there is no such file");
  if (secret->ends_with('\n')) secret->pop_back();
  if (secret->ends_with('\r')) secret->pop_back();
  if (secret->empty()) fail(file, "it is empty");
  return secret;
}

std::string resolve_secret(const std::string& explicit_secret) {
  std::string secret = explicit_secret;
  if (secret.empty()) secret = secret_of_file().value_or("");
  if (secret.empty()) secret = base::env_string("PARLEY_SECRET").value_or("");
  if (secret.empty()) return read_or_make_cookie(cookie_path());
  warn_if_short(secret);
  return secret;
}

std::string secret_of_job(const std::string& secret, const std::string& job) {
  return job.empty() || secret.empty() ? secret : secret + '\n' + job;
}

Credentials resolve_settings(std::optional<bool> tls) {
  Credentials credentials;
  credentials.encrypt = tls ? *tls : tls_of_environment();
  const std::string setting = base::env_string("PARLEY_AUTH").value_or("on");
  if (setting != "on" && setting != "off")
    throw UsageError(base::concat("PARLEY_AUTH=", setting, " is neither on nor off"));
  credentials.authenticate = setting == "on";
  if (credentials.encrypt && !tls_available())
    throw UsageError("TLS is asked for (PARLEY_TLS=1), and this build has no OpenSSL");
  if (credentials.encrypt && !credentials.authenticate)
    throw UsageError(
        "TLS is asked for (PARLEY_TLS=1), and PARLEY_AUTH=off leaves no secret to make its key from");
  return credentials;
}

Credentials resolve_credentials(const std::string& explicit_secret, std::optional<bool> tls) {
  Credentials credentials = resolve_settings(tls);
  if (credentials.authenticate) credentials.secret = resolve_secret(explicit_secret);
  return credentials;
}

}  // namespace parley::socket
