#include "tools/sim/marks.h"

#include <algorithm>

#include "api/schedule/schedule.h"

namespace parley::sim {

std::optional<double> Marks::seen(std::uint32_t actor, std::int32_t mark) const {
  if (mark <= 0) return 0;
  const auto& marks = published_[actor];
  const auto found = std::lower_bound(marks.begin(), marks.end(), std::pair(mark, 0.0));
  if (found == marks.end()) return std::nullopt;
  return found->second + mark_ns_;
}

std::optional<double> Marks::end_of(const Await& await) const {
  double last = await.begun;
  std::uint32_t looked_at = 0;
  for (std::uint32_t peer = 0; peer < published_.size(); ++peer) {
    if (peer == await.actor || (await.peer != schedule::everyone && await.peer != peer)) continue;
    const std::optional<double> time = seen(peer, await.mark);
    if (!time) return std::nullopt;
    last = std::max(last, *time);
    ++looked_at;
  }
  return last + looked_at * seen_mark_ns_;
}

std::vector<Marks::End> Marks::publish(double now, std::uint32_t actor, std::int32_t mark) {
  published_[actor].emplace_back(mark, now);
  std::vector<End> ends;
  std::erase_if(waiting_, [&](const Await& await) {
    const std::optional<double> end = end_of(await);
    if (end) ends.push_back({*end, await.actor, await.step});
    return end.has_value();
  });
  return ends;
}

std::optional<double> Marks::await(double now, std::uint32_t actor, std::uint32_t step, std::uint32_t peer,
                                   std::int32_t mark) {
  const Await wanted{now, actor, step, peer, mark};
  const std::optional<double> end = end_of(wanted);
  if (!end) waiting_.push_back(wanted);
  return end;
}

}  // namespace parley::sim
