#pragma once

#include <cstdint>
#include <optional>

namespace parley::testing {

// Of a random test that can be run again: what `--seed N` names. Nothing: it was not given.
[[nodiscard]] std::optional<std::uint64_t> only_seed() noexcept;

// main() of such a program: GoogleTest's options, then perhaps `--seed N`.
int run_seeded_tests(int argc, char** argv, const char* program);

}  // namespace parley::testing
