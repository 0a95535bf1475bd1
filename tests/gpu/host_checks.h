#pragma once

#include <string>

// What a host allows of which Parley makes use: each is tried, and answers in words.
namespace parley::tests {

// Anonymous memory that is sealed and mapped.
[[nodiscard]] std::string check_memfd();
// Whether a child reads this process's memory. REQUIRES: one thread.
[[nodiscard]] std::string check_cross_memory_reads();
// The version of "libnccl.so.2" as the loader finds it.
[[nodiscard]] std::string check_nccl();
[[nodiscard]] std::string cores();
[[nodiscard]] std::string memory();
[[nodiscard]] std::string system();

}  // namespace parley::tests
