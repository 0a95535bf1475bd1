#include "tests/multiprocess/support/seed_option.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace parley::testing {
namespace {
std::optional<std::uint64_t> given;
}  // namespace

std::optional<std::uint64_t> only_seed() noexcept {
  return given;
}

int run_seeded_tests(int argc, char** argv, const char* program) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--seed")
    given = std::strtoull(argv[2], nullptr, 10);
  else if (argc != 1)
    return std::fprintf(stderr, "usage: %s [--seed N]\n", program), 2;
  return RUN_ALL_TESTS();
}

}  // namespace parley::testing
