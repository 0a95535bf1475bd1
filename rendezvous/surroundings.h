#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace parley::rendezvous {

// What a process can see of how it was started; functions, so that a test can pretend.
struct Surroundings {
  // The value of an environment variable; nothing when it is unset or empty.
  std::function<std::optional<std::string>(const char* name)> variable;
  // A name for the process that made the socket which we inherited as descriptor `fd`, equal for all who
  // inherit from it and never used again on this host; nothing when that cannot be told.
  std::function<std::optional<std::string>(int fd)> maker_of_socket;

  [[nodiscard]] bool has(const char* name) const { return variable(name).has_value(); }
  [[nodiscard]] std::string text(const char* name) const { return variable(name).value_or(""); }
  // A decimal integer of 64 bits. Throws UsageError naming the variable when it is something else.
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name) const;
};

// Of this process. Thread-safety: safe while nobody changes the environment.
Surroundings own_surroundings();

}  // namespace parley::rendezvous
