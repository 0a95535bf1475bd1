#pragma once

#include <string>

// What a host allows of which Parley makes use: each is tried, and answers in words.
namespace parley::tests {

// Anonymous memory that is sealed and mapped.
[[nodiscard]] std::string check_memfd();
// Whether a child reads this process's memory. REQUIRES: one thread.
[[nodiscard]] std::string check_cross_memory_reads();
// The version of NCCL's library: the first of `paths` that can be opened, "libnccl.so.2" by the loader's
// rules last.
[[nodiscard]] std::string check_nccl(int count, char* const* paths);
[[nodiscard]] std::string cores();
[[nodiscard]] std::string memory();
[[nodiscard]] std::string system();

}  // namespace parley::tests
