#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parley::base {

// Every PARLEY_* variable is read through these functions and listed in env.cc; the table in api/README.md
// repeats that list and a test compares the two.
// Thread-safety: safe as long as nobody changes the environment meanwhile (setenv and getenv of libc race).

struct KnownVariable {
  std::string_view name;
  std::string_view meaning;  // one line, for the table in api/README.md
};

// All variables that Parley reads, in the order of the table.
std::span<const KnownVariable> known_variables() noexcept;

// The value, or nothing when unset or empty.
std::optional<std::string> env_string(const char* name);

// A decimal integer. Throws parley::UsageError naming the variable when it is something else.
std::optional<std::int64_t> env_integer(const char* name);

// "90s", "30m", "2h", "250ms", plain seconds, or "none" (nanoseconds::max()). Whole numbers only.
// Throws UsageError.
std::optional<std::chrono::nanoseconds> env_duration(const char* name);

// The same grammar for command lines and URLs; nothing when malformed, negative or beyond 292 years.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The known variable that `name` was probably meant to be, or "" when none is near.
std::string_view nearest_variable(std::string_view name);

// Warns once per process about PARLEY_* variables that nothing reads, with the nearest known name.
void warn_about_unknown_variables();

}  // namespace parley::base
