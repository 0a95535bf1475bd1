#include "bench/limits/loops.h"

#include "bench/limits/cell.h"
#include "transport/base/store_choice.h"

namespace parley::bench {
namespace {

// Less is never faster over memory; and not every processor has such stores.
bool goes_past_caches(std::size_t bytes) noexcept {
  return base::has_copy_past_caches && bytes >= base::StoreChoice::least_bytes;
}

}  // namespace

std::vector<LoopKind> loops_for(Op op, std::size_t bytes, bool cross_memory) {
  std::vector<LoopKind> kinds;
  if (bytes <= Cell::inline_bytes) kinds.push_back(is_windowed(op) ? LoopKind::ring : LoopKind::cell);
  const bool is_one_way = operation(op).traffic == Traffic::windows;
  if (bytes <= Cell::inline_bytes && is_one_way) kinds.push_back(LoopKind::ring_stream);
  kinds.push_back(LoopKind::copied_reused);
  kinds.push_back(LoopKind::copied_rotating);
  if (goes_past_caches(bytes)) kinds.push_back(LoopKind::copied_past_caches);
  if (op == Op::message_rate) return kinds;
  if (cross_memory) kinds.push_back(LoopKind::cross_memory);
  kinds.push_back(LoopKind::mapped);
  return kinds;
}

}  // namespace parley::bench
