#include "rendezvous/surroundings.h"

#include <parley/error.h>
#include <sys/socket.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

// When a process began, in ticks since boot: with its number, a name that is not used again.
std::string begin_of(pid_t pid) {
  std::ifstream file(base::concat("/proc/", pid, "/stat"));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The command's name, in parentheses, may hold anything; the 20th word behind it is the time.
  std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  return word;
}

std::optional<std::string> maker_of_socket(int fd) {
  ucred maker{};
  socklen_t size = sizeof(maker);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0 || maker.pid <= 0) return std::nullopt;
  return base::concat(maker.pid, "/", begin_of(maker.pid));
}

}  // namespace

std::optional<std::int64_t> Surroundings::integer(const char* name) const {
  const auto value = variable(name);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  const char* const last = value->data() + value->size();
  const auto [end, error] = std::from_chars(value->data(), last, number);
  if (error != std::errc{} || end != last)
    throw UsageError(base::concat(name, "=", *value, " is not an integer of 64 bits"));
  return number;
}

Surroundings own_surroundings() {
  return {base::env_string, maker_of_socket};
}

}  // namespace parley::rendezvous
