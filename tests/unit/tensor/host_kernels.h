#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

// The kernels of tensor/reduce/cuda compiled for the CPU, of the same lists and loops as for a device.
namespace parley::tests {

// Where the test finds what an address in a kernel's arguments names.
using Reach = std::function<void*(const void* address)>;

// Runs all threads of a kernel, one after the other. `arguments` are those of the launch.
using HostKernel =
    std::function<void(std::span<const std::byte> arguments, std::uint64_t threads, const Reach& reach)>;

// By name.
[[nodiscard]] const std::map<std::string, HostKernel, std::less<>>& host_kernels();

}  // namespace parley::tests
