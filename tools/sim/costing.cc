#include "tools/sim/costing.h"

#include <algorithm>
#include <optional>

#include "api/schedule/catalogue.h"
#include "api/schedule/symmetry.h"
#include "tools/sim/cast.h"
#include "tools/sim/program.h"
#include "tools/sim/promise.h"
#include "tools/sim/simulation.h"

namespace parley::sim {
namespace {

// Ranks of a host that share memory at most, and how much of it each has: see api/collective.
constexpr std::uint32_t most_neighbours = 64;
constexpr std::uint64_t line_bytes = 56;
constexpr std::uint64_t stage_bytes = 256 << 10;
constexpr std::uint64_t least_loan_bytes = 64 << 10;
// How much larger a count may be made for its blocks to be equal, and still tell more than a promise.
constexpr std::uint64_t most_evening = 2;

class Costing {
 public:
  Costing(const Setting& setting, const schedule::Request& request, const schedule::Candidate& candidate,
          bool lends)
      : setting_(setting), request_(request), algorithm_(candidate.algorithm), lends_(lends) {
    shape_ = request.shape;
    shape_.segment_count = candidate.segment_count;
  }

  Figure cost() {
    const bool is_even_race = setting_.slowdown.empty();
    const schedule::Shape exact = shape_;
    if (is_even_race) {
      const Cast cast(setting_.network, symmetry());
      if (!cast.is_whole())
        if (const auto figure = run(cast, Accuracy::exact)) return *figure;
    }
    if (const auto figure = run(Cast(shape_.size), Accuracy::exact)) return *figure;
    shape_.count = schedule::even_count(request_.operation, algorithm_, shape_);
    if (is_even_race && shape_.count != exact.count) {
      const Cast cast(setting_.network, symmetry());
      if (!cast.is_whole())
        if (const auto figure = run(cast, Accuracy::evened)) return lesser(*figure, exact.count);
    }
    return promised();
  }

 private:
  [[nodiscard]] Figure promised() const {
    return {promised_ns(setting_, request_, {algorithm_, shape_.segment_count}), Accuracy::promised};
  }
  // Of two bounds from above, where evening has made much more of the vector.
  [[nodiscard]] Figure lesser(const Figure& evened, std::uint64_t count) const {
    if (shape_.count <= most_evening * count) return evened;
    const Figure other = promised();
    return other.ns < evened.ns ? other : evened;
  }

  [[nodiscard]] schedule::Symmetry symmetry() const {
    return schedule::symmetry(request_.operation, algorithm_, shape_);
  }

  [[nodiscard]] const SharedPiece& shared() const {
    return setting_.model.shared_piece(request_.shape.count * request_.element_bytes);
  }

  // Nothing: it has too many steps.
  std::optional<Figure> run(const Cast& cast, Accuracy accuracy) {
    const std::uint64_t repeats = cast.actors() / cast.models();
    const bool looks_at_hosts =
        algorithm_ == schedule::Algorithm::two_level || algorithm_ == schedule::Algorithm::two_level_sliced;
    // Such a schedule looks at the hosts of all ranks, which takes as long as steps do.
    std::uint64_t steps = looks_at_hosts ? std::uint64_t{cast.models()} * shape_.size : 0;
    if (steps > setting_.most_steps || cast.actors() > setting_.most_steps) return std::nullopt;
    // A rank from the middle does what most do; what that makes of all ranks is seen without looking at them.
    if (cast.models() > 1 && program(shape_.size / 2).steps.size() > setting_.most_steps / cast.actors())
      return std::nullopt;
    std::vector<Program> programs;
    programs.reserve(cast.models());
    std::uint64_t simulated = 0;
    for (std::uint32_t model = 0; model < cast.models(); ++model) {
      programs.push_back(program(cast.model_rank(model)));
      simulated += programs.back().steps.size() * repeats;
      if (steps + simulated > setting_.most_steps) return std::nullopt;
    }
    return Figure{
        simulate(setting_.network, setting_.model, cast, programs, shared().mark_ns, setting_.slowdown),
        accuracy, simulated};
  }

  Program program(std::uint32_t rank) {
    shape_.rank = rank;
    return compile(schedule::make(request_.operation, algorithm_, shape_), rank,
                   {setting_.model, shared(), request_.element_bytes, lends_});
  }

  const Setting& setting_;
  const schedule::Request& request_;
  schedule::Algorithm algorithm_;
  bool lends_;
  schedule::Shape shape_;
};

}  // namespace

schedule::Request request_of(const Setting& setting, const Call& call, std::span<const std::uint32_t> hosts) {
  schedule::Request request;
  request.operation = call.operation;
  request.element_bytes = call.element_bytes;
  request.shape.size = setting.network.ranks;
  request.shape.count = call.operation == schedule::Operation::barrier
                            ? 0
                            : std::max<std::uint64_t>(call.bytes / call.element_bytes, 1);
  if (setting.tcp_on_host) {
    request.surroundings.near = schedule::Link::tcp;
  } else if (!hosts.empty()) {
    request.shape.hosts = hosts;
  } else if (setting.network.ranks <= most_neighbours) {
    request.shape.line_count = line_bytes / call.element_bytes;
    request.shape.stage_count = stage_bytes / call.element_bytes;
    request.shape.loan_count = least_loan_bytes / call.element_bytes;
  }
  return request;
}

Figure cost_of(const Setting& setting, const schedule::Request& request, const schedule::Candidate& candidate,
               bool lends) {
  return Costing(setting, request, candidate, lends).cost();
}

}  // namespace parley::sim
