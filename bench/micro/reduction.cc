// Reduction kernels beside what the memory system gives: a loop that reads as many arrays and writes as many
// bytes, in the widest registers, and computes next to nothing. Both take turns over the same memory.
#include <benchmark/benchmark.h>
#include <parley/reduce_op.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensor/reduce/reduction.h"

namespace {

using parley::DType;
using parley::ReduceOp;
using parley::tensor::Isa;
using parley::tensor::kernels_of;
using parley::tensor::Reduction;

// Reads k arrays, with k known to the compiler, and writes one. REQUIRES: a multiple of 256 bytes
template <std::size_t k, typename Word>
inline __attribute__((always_inline)) void stream_words(std::byte* to, const void* const* operands,
                                                        std::size_t bytes) {
  const std::byte* from[k];
  for (std::size_t i = 0; i < k; ++i) from[i] = static_cast<const std::byte*>(operands[i]);
  for (std::size_t at = 0; at < bytes; at += 256) {
#pragma GCC unroll 16
    for (std::size_t step = 0; step < 256; step += sizeof(Word)) {
      Word words{};
#pragma GCC unroll 8
      for (std::size_t i = 0; i < k; ++i) {
        Word word;
        std::memcpy(&word, from[i] + at + step, sizeof(word));
        words |= word;
      }
      std::memcpy(to + at + step, &words, sizeof(words));
    }
  }
}

using Word128 [[gnu::vector_size(16)]] = std::uint64_t;
using Word256 [[gnu::vector_size(32)]] = std::uint64_t;
using Word512 [[gnu::vector_size(64)]] = std::uint64_t;

template <std::size_t k>
void stream_portable(std::byte* to, const void* const* operands, std::size_t bytes) {
  stream_words<k, Word128>(to, operands, bytes);
}
#if defined(__x86_64__)
template <std::size_t k>
__attribute__((target("avx2"))) void stream_avx2(std::byte* to, const void* const* operands,
                                                 std::size_t bytes) {
  stream_words<k, Word256>(to, operands, bytes);
}
template <std::size_t k>
__attribute__((target("avx512f"))) void stream_avx512(std::byte* to, const void* const* operands,
                                                      std::size_t bytes) {
  stream_words<k, Word512>(to, operands, bytes);
}
#endif

using Stream = void (*)(std::byte* to, const void* const* operands, std::size_t bytes);

template <std::size_t k>
Stream widest_stream() {
#if defined(__x86_64__)
  if (kernels_of(Isa::avx512) != nullptr) return &stream_avx512<k>;
  if (kernels_of(Isa::avx2) != nullptr) return &stream_avx2<k>;
#endif
  return &stream_portable<k>;
}

Stream stream_of(std::size_t k) {
  return k == 2 ? widest_stream<2>() : k == 4 ? widest_stream<4>() : widest_stream<8>();
}

// `k` operands and a result, page-aligned and written.
class Arrays {
 public:
  Arrays(std::size_t k, std::size_t bytes) : bytes_(bytes), memory_((k + 1) * bytes / sizeof(Page)) {
    for (std::size_t i = 0; i < k; ++i) {
      operands_.push_back(at(i));
      std::memset(at(i), 0x3c, bytes);  // about 0.01 to 1 in every floating-point type
    }
    std::memset(to(), 0, bytes);
  }
  [[nodiscard]] const std::vector<const void*>& operands() const { return operands_; }
  [[nodiscard]] std::byte* to() { return at(operands_.size()); }

 private:
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };
  std::byte* at(std::size_t i) { return memory_[0].bytes + i * bytes_; }
  std::size_t bytes_;
  std::vector<Page> memory_;
  std::vector<const void*> operands_;
};

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Turns that fold 4 MiB or one array. `of_stream`: how much of the loop's speed the kernel reaches, by the
// medians of the turns; bytes are those that are read and written.
void fold(benchmark::State& state, DType dtype, ReduceOp::Kind kind) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const auto bytes = static_cast<std::size_t>(state.range(1));
  Arrays arrays(k, bytes);
  const Reduction reduction(kind, dtype);
  const Stream stream = stream_of(k);
  const std::size_t calls = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
  const std::size_t count = bytes / parley::size_of(dtype);
  std::vector<double> fold_seconds;
  std::vector<double> stream_seconds;
  for (auto _ : state) {
    fold_seconds.push_back(seconds_of([&] {
      for (std::size_t i = 0; i < calls; ++i) reduction.fold(arrays.to(), arrays.operands(), count);
    }));
    stream_seconds.push_back(seconds_of([&] {
      for (std::size_t i = 0; i < calls; ++i) stream(arrays.to(), arrays.operands().data(), bytes);
    }));
    state.SetIterationTime(fold_seconds.back());
  }
  const double moved = static_cast<double>((k + 1) * bytes * calls);
  const double kernel = median(fold_seconds);
  const double limit = median(stream_seconds);
  state.counters["GB/s"] = moved / kernel / 1e9;
  state.counters["stream_GB/s"] = moved / limit / 1e9;
  state.counters["of_stream"] = limit / kernel;
}

// What a call costs when there is next to nothing to do.
void fold_few(benchmark::State& state, DType dtype) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Arrays arrays(2, 4096);
  const Reduction reduction(ReduceOp::sum, dtype);
  for (auto _ : state) {
    reduction.fold(arrays.to(), arrays.operands(), count);
    benchmark::ClobberMemory();
  }
}

void sizes(benchmark::internal::Benchmark* measured) {
  measured->ArgNames({"operands", "bytes"})->UseManualTime();
  for (const std::int64_t bytes : {4 << 10, 16 << 20})
    for (const std::int64_t k : {2, 4, 8}) measured->Args({k, bytes});
}

BENCHMARK_CAPTURE(fold, f32_sum, DType::f32, ReduceOp::sum)->Apply(sizes);
BENCHMARK_CAPTURE(fold, f64_sum, DType::f64, ReduceOp::sum)->Apply(sizes);
BENCHMARK_CAPTURE(fold, i32_sum, DType::i32, ReduceOp::sum)->Apply(sizes);
BENCHMARK_CAPTURE(fold, f16_sum, DType::f16, ReduceOp::sum)->Apply(sizes);
BENCHMARK_CAPTURE(fold, bf16_sum, DType::bf16, ReduceOp::sum)->Apply(sizes);
BENCHMARK_CAPTURE(fold, f32_max, DType::f32, ReduceOp::max)->Apply(sizes);
BENCHMARK_CAPTURE(fold_few, f32, DType::f32)->ArgName("elements")->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(fold_few, f16, DType::f16)->ArgName("elements")->Arg(1)->Arg(16);

}  // namespace
