#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "transport/cuda/api.h"

namespace parley::cuda::testing {

// The calls of an Api, by name.
enum class Call : std::uint8_t {
  enter_device,
  reach_device,
  allocate,
  free,
  allocate_pinned,
  free_pinned,
  register_host,
  unregister_host,
  facts_of,
  create_stream,
  destroy_stream,
  stream_id,
  is_idle,
  synchronize,
  create_event,
  destroy_event,
  record,
  wait,
  query,
  synchronize_event,
  write_word,
  wait_word,
  copy,
  fill,
  export_memory,
  import_memory,
  close_memory,
  add_kernels,
  launch,
};
inline constexpr std::size_t call_kinds = static_cast<std::size_t>(Call::launch) + 1;

// Counts calls, and lets some of them fail. Thread-safety: all.
class Calls {
 public:
  // Counts one. Not ok: it is to fail so, and to do nothing.
  Code begin(Call call);
  [[nodiscard]] std::uint64_t count(Call call) const;
  void fail_next(Call call, Code code, int times);

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::deque<Code> failures;
  };
  mutable std::mutex mutex_;  // guards kinds_
  std::array<Kind, call_kinds> kinds_;
};

}  // namespace parley::cuda::testing
