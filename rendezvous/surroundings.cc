#include "rendezvous/surroundings.h"

#include <parley/error.h>
#include <sys/socket.h>

#include <charconv>

#include "transport/base/env.h"
#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

std::optional<std::string> maker_of_socket(int fd) {
  ucred maker{};
  socklen_t size = sizeof(maker);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0 || maker.pid <= 0) return std::nullopt;
  return base::concat(maker.pid, "/", base::look_at_process(maker.pid).start);
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
