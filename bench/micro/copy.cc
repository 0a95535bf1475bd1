// Copies to where malloc() puts what is large, 16 bytes behind the start of a page, and to the start of one:
// by memcpy(), by what the library copies with, and out of another process's memory, whose place this one
// takes.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include "transport/base/copy_bulk.h"
#include "transport/shm/cross_memory.h"

namespace {

constexpr std::align_val_t page{4096};

struct Free {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, page); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

Memory pages(std::size_t bytes) {
  Memory memory(static_cast<std::byte*>(::operator new[](bytes, page)));
  std::memset(memory.get(), 1, bytes);
  return memory;
}

// Names: bytes, and how far behind the start of a page they are copied to.
template <typename Copy>
void time_copies(benchmark::State& state, const Copy& copy) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto behind = static_cast<std::size_t>(state.range(1));
  const Memory from = pages(bytes), to = pages(bytes + behind);
  for (auto _ : state) {
    copy(to.get() + behind, from.get(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void copy_memcpy(benchmark::State& state) {
  time_copies(state,
              [](std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
}

void copy_bulk(benchmark::State& state) {
  time_copies(state, [](std::byte* to, const std::byte* from, std::size_t bytes) {
    parley::base::copy_bulk(to, from, bytes);
  });
}

void copy_across(benchmark::State& state) {
  time_copies(state, [](std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(from)};
    if (!parley::transport::shm::read_process_memory(getpid(), address, {to, bytes}).ok())
      throw std::runtime_error("this process's own memory cannot be read");
  });
}

#define PLACES ArgsProduct({{4096, 65536, 262144}, {0, 16}})
BENCHMARK(copy_memcpy)->PLACES;
BENCHMARK(copy_bulk)->PLACES;
BENCHMARK(copy_across)->PLACES;

}  // namespace
