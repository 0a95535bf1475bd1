#include "tests/fuzz/expect.h"

#include <parley/log.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace parley::fuzz {
namespace {

// Log lines are looked at instead of printed: there are millions, and no stranger may forge one.
void check_line(const LogRecord& record) {
  const bool clean = std::all_of(record.message.begin(), record.message.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
  FUZZ_EXPECT(clean);
  FUZZ_EXPECT(record.message.size() < 2000);
}

}  // namespace

void found(const char* file, int line, std::string_view what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, std::string(what).c_str());
  std::abort();
}

}  // namespace parley::fuzz

extern "C" {

int LLVMFuzzerInitialize(int*, char***);
int LLVMFuzzerInitialize(int*, char***) {
  parley::set_log_sink(parley::fuzz::check_line);
  return 0;
}

// What was freed stays poisoned for a while; of AddressSanitizer's 256 MiB of it the memory limit leaves
// nothing.
const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)
const char* __asan_default_options() {
  return "quarantine_size_mb=16:malloc_context_size=8";
}
}
