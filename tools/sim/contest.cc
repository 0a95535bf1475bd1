#include "tools/sim/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/schedule/prices.h"
#include "tools/sim/bound.h"
#include "tools/sim/promise.h"
#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

// Of more ranks, what promises to take so many times as long as the fastest is not simulated: a promise is
// too dear by less, but for what it takes for shared between hosts and is not.
constexpr std::uint32_t most_looked_at_closely = 256;
constexpr double hopeless = 4;

Contest::Remainder remainder_of(const Setting& setting, const Call& call, const Trouble& trouble) {
  const std::uint32_t lost = *trouble.lost_host, hosts = setting.network.hosts();
  if (lost >= hosts)
    throw UsageError(hosts == 1 ? fmt::format("--lose {}: {} ranks are on one host, and it is number 0", lost,
                                              setting.network.ranks)
                                : fmt::format("--lose {}: {} ranks are on hosts 0 to {}", lost,
                                              setting.network.ranks, hosts - 1));
  if (hosts == 1)
    throw UsageError(fmt::format("--lose 0: {} ranks are on that host, all there are: nobody is left",
                                 setting.network.ranks));
  Setting left = setting;
  const std::uint32_t each = setting.network.ranks_per_host;
  left.network.ranks -= std::min(each, setting.network.ranks - lost * each);
  left.network.lost_host = lost;
  Trouble without = trouble;
  without.lost_host.reset();
  const std::vector<std::uint32_t> host_of_each = left.network.host_of_each();
  const schedule::Candidate chosen = schedule::select(request_of(left, call, host_of_each), {}).chosen;
  const Contest contest = hold(left, call, without, std::vector{chosen.algorithm});
  return {left.network.ranks, left.network.hosts(), contest.taken()};
}

}  // namespace

Contest hold(const Setting& setting, const Call& call, const Trouble& trouble,
             std::span<const schedule::Algorithm> only) {
  Contest contest{.network = setting.network, .call = call, .bound_ns = lower_bound_ns(setting, call)};
  const std::vector<std::uint32_t> hosts = setting.network.host_of_each();
  const schedule::Request request = request_of(setting, call, hosts);
  const std::vector<schedule::Candidate> candidates = schedule::candidates_for(request);
  // The library takes the first: prices decide where nothing was asked for and nothing measured.
  const schedule::Algorithm taken = candidates.front().algorithm;
  Setting slowed = setting;
  slowed.slowdown = slowdowns(trouble, setting.network.ranks);
  struct Promised {
    schedule::Candidate candidate;
    double ns = 0;
  };
  std::vector<Promised> promised;
  for (const schedule::Candidate& candidate : candidates) {
    const bool is_asked_for =
        only.empty() || std::find(only.begin(), only.end(), candidate.algorithm) != only.end();
    if (is_asked_for || candidate.algorithm == taken)
      promised.push_back({candidate, promised_ns(setting, request, candidate)});
  }
  // Those first that are likely to be the fastest: then the hopeless are known.
  std::stable_sort(promised.begin(), promised.end(),
                   [](const Promised& left, const Promised& right) { return left.ns < right.ns; });
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [candidate, ns] : promised) {
    const double sharing = schedule::ranks_that_cross(candidate.algorithm, request.shape);
    const bool is_hopeless = candidate.algorithm != taken && setting.network.ranks > most_looked_at_closely &&
                             ns > hopeless * sharing * best;
    Entrant entrant{
        candidate,
        is_hopeless ? Figure{ns, Accuracy::promised} : cost_of(setting, request, candidate, call.lends),
        std::nullopt};
    best = std::min(best, entrant.figure.ns);
    if (trouble.has_stragglers())
      entrant.slowed = is_hopeless ? Figure{promised_ns(slowed, request, candidate), Accuracy::promised}
                                   : cost_of(slowed, request, candidate, call.lends);
    contest.entrants.push_back(entrant);
  }
  std::stable_sort(
      contest.entrants.begin(), contest.entrants.end(),
      [](const Entrant& left, const Entrant& right) { return left.figure.ns < right.figure.ns; });
  while (contest.taken().candidate.algorithm != taken) ++contest.chosen;
  if (trouble.lost_host) contest.remainder = remainder_of(setting, call, trouble);
  return contest;
}

}  // namespace parley::sim
