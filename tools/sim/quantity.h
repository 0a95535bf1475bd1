#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parley::sim {

// What is wrong with a command line, in one sentence.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// All throw UsageError with the option's name, what was written and what would be right.

// Whole numbers above 0 with K, M or G (powers of 1024): "8", "64K"; a list "8,64"; a range that doubles,
// "8:64K", or is multiplied by another number, "8:64K:x4", up to at most its end. In the order written.
std::vector<std::uint64_t> parse_counts(std::string_view option, std::string_view text);
std::uint64_t parse_count(std::string_view option, std::string_view text);

// Nanoseconds: "250ns", "2.5us", "1ms", "0.1s", "40ps". 0 is one.
double parse_duration_ns(std::string_view option, std::string_view text);

// Nanoseconds for each byte, as a rate or as a duration: "25G" or "25GB/s" (25e9 bytes a second), "40ps".
double parse_byte_ns(std::string_view option, std::string_view text);

// A number above 0.
double parse_factor(std::string_view option, std::string_view text);

// For readers: "64 KiB", "1000 B"; "2.5 us" (three digits); "25 GB/s".
std::string format_bytes(std::uint64_t bytes);
std::string format_ns(double ns);
std::string format_rate(double byte_ns);

}  // namespace parley::sim
