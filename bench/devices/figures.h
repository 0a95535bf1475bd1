#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/devices/device_choice.h"
#include "bench/row.h"

namespace parley::bench {

// The systems that take part beside "parley", as the rows call them.
inline constexpr std::string_view device_copy = "raw device copy";
inline constexpr std::string_view pinned_to_device = "raw pinned to device";
inline constexpr std::string_view device_to_pinned = "raw device to pinned";
// Parley by NCCL.
inline constexpr std::string_view parley_nccl = "parley nccl";
// Parley between buffers of the host.
inline constexpr std::string_view parley_host = "parley host";

// Whether messages of that transport go by way of the host, so that Parley's own speed there is the limit.
constexpr bool is_staged(std::string_view transport) noexcept {
  return transport.starts_with("tcp");
}

// Which of them the others are held against: where messages are staged, parley_host; else the copy that
// brings a message of rank 0 to its place. A collective's is always device_copy.
std::string_view limit_for(const Subject& subject) noexcept;

// Compares all rows with the limit, which is one of them. REQUIRES: all of one subject.
void compare_with_limit(std::span<Row> rows);

// Two lines, and a line for each system, of operations between two ranks. REQUIRES: the rows were compared.
std::string device_header(Op op);
std::string device_lines(std::span<const Row> rows);

}  // namespace parley::bench
