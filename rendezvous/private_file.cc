#include "rendezvous/private_file.h"

#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

[[noreturn]] void fail(const std::string& folder, const std::string& why) {
  throw SystemError(base::concat("cannot use the folder ", folder, ": ", why,
                                 "; or set PARLEY_STORE=tcp://host:port or file:///path"));
}

std::string folder_of_user(const Surroundings& around) {
  const std::string runtime = around.text("XDG_RUNTIME_DIR");
  // Some set the variable without making the folder.
  struct stat facts {};
  if (runtime.starts_with('/') && ::stat(runtime.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
    return runtime + "/parley";
  return base::concat("/tmp/parley-", ::geteuid());
}

// Whoever may write to the folder could put a store of his own there.
void check_private(const std::string& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0)
    fail(folder, base::concat("looking at it: ", std::system_category().message(errno)));
  if (!S_ISDIR(facts.st_mode)) fail(folder, "it is no folder");
  if (facts.st_uid != ::geteuid())
    fail(folder, base::concat("it belongs to user ", facts.st_uid, ", not to ", ::geteuid()));
  if ((facts.st_mode & 077) != 0) fail(folder, "others may use it: make it private by chmod 700");
}

// Two FNV-1a hashes of 64 bits from different beginnings. No attacker chooses the keys.
std::string digits_of(std::string_view key) {
  std::string text;
  for (const std::uint64_t begin : {0xcbf29ce484222325, 0x9ae16a3b2f90404f}) {
    std::uint64_t hash = begin;
    for (const char c : key) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3;
    }
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15];
  }
  return text;
}

}  // namespace

std::string private_file(std::string_view key, const Surroundings& around) {
  const std::string folder = folder_of_user(around);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    fail(folder, base::concat("making it: ", std::system_category().message(errno)));
  check_private(folder);
  return base::concat(folder, "/job-", digits_of(key));
}

}  // namespace parley::rendezvous
