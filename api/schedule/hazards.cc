#include "api/schedule/hazards.h"

#include <algorithm>

namespace parley::schedule {

void Hazards::split(std::uint64_t at) {
  auto after = regions_.lower_bound(at);
  if (after == regions_.begin()) return;
  Region& region = std::prev(after)->second;
  if (region.end <= at) return;
  Region tail = region;
  region.end = at;
  regions_.emplace_hint(after, at, std::move(tail));
}

Hazards::Regions::iterator Hazards::cover(std::uint64_t begin, std::uint64_t end) {
  split(begin);
  split(end);
  auto region = regions_.lower_bound(begin);
  for (std::uint64_t at = begin; at < end;) {
    if (region == regions_.end() || region->first > at) {
      const std::uint64_t gap_end = region == regions_.end() ? end : std::min(end, region->first);
      region = regions_.emplace_hint(region, at, Region{gap_end});
    }
    at = region->second.end;
    ++region;
  }
  return regions_.lower_bound(begin);
}

void Hazards::read(std::uint64_t begin, std::uint64_t end, std::uint32_t step,
                   std::vector<std::uint32_t>& before) {
  for (auto region = cover(begin, end); region != regions_.end() && region->first < end; ++region) {
    if (region->second.writer != nobody) before.push_back(region->second.writer);
    region->second.readers.push_back(step);
  }
}

void Hazards::write(std::uint64_t begin, std::uint64_t end, std::uint32_t step,
                    std::vector<std::uint32_t>& before) {
  const auto first = cover(begin, end);
  auto region = first;
  for (; region != regions_.end() && region->first < end; ++region) {
    const auto& [region_end, writer, readers] = region->second;
    before.insert(before.end(), readers.begin(), readers.end());
    if (readers.empty() && writer != nobody) before.push_back(writer);
  }
  // One writer, no readers: one region again.
  regions_.emplace_hint(regions_.erase(first, region), begin, Region{end, step});
}

}  // namespace parley::schedule
