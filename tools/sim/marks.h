#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace parley::sim {

// The marks that ranks of one host publish in memory that they share, and who waits for them. A mark is seen
// so long after its writing; whoever looks at several looks at one after the other.
class Marks {
 public:
  Marks(double mark_ns, double seen_mark_ns, std::uint32_t actors)
      : mark_ns_(mark_ns), seen_mark_ns_(seen_mark_ns), published_(actors) {}

  struct End {
    double time;
    std::uint32_t actor;
    std::uint32_t step;
  };
  // The awaits that end by this.
  std::vector<End> publish(double now, std::uint32_t actor, std::int32_t mark);
  // When it ends; nothing: publish() will say. `peer`: an actor, or schedule::everyone.
  std::optional<double> await(double now, std::uint32_t actor, std::uint32_t step, std::uint32_t peer,
                              std::int32_t mark);

 private:
  struct Await {
    double begun;
    std::uint32_t actor, step, peer;
    std::int32_t mark;
  };
  // When an actor's mark is seen; nothing: it has not come yet. Marks of calls before are not above 0.
  [[nodiscard]] std::optional<double> seen(std::uint32_t actor, std::int32_t mark) const;
  [[nodiscard]] std::optional<double> end_of(const Await& await) const;

  double mark_ns_;
  double seen_mark_ns_;
  std::vector<std::vector<std::pair<std::int32_t, double>>> published_;  // by actor: marks and times, growing
  std::vector<Await> waiting_;
};

}  // namespace parley::sim
