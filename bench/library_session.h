#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/gate.h"
#include "bench/library.h"
#include "bench/measurement.h"
#include "bench/pair.h"
#include "bench/probe.h"
#include "bench/row.h"
#include "bench/turns.h"
#include "bench/waiting.h"

namespace parley::bench {

// Ways to do one thing, as they were held against each other at one size.
struct Contest {
  std::vector<std::string> systems;  // the contenders' names
  std::vector<Series> series;        // of each, from the same rounds
  double probe_ns = 0;
};

// Measures one library size after size, with the loops, the rounds and the probe that parley-bench measures
// Parley with.
class LibrarySession {
 public:
  // Every rank makes one, with the same measurement. Borrows both.
  LibrarySession(Library& library, const Measurement& measurement, Idle idle);

  // Called by all ranks with the same size; a row for each way of the library arrives at rank 0, nothing at
  // the others. Throws what the library or the raw link throws, and std::runtime_error when received data is
  // wrong.
  std::optional<std::vector<Row>> measure(std::size_t bytes);

  // The same of a collective's ways, for a choice between them: only those whose trial took no more than
  // `most_times` as long as the quickest one's go on, and the first in any case. Throws std::runtime_error
  // for wrong elements, too.
  std::optional<Contest> contest(std::size_t bytes, double most_times);

 private:
  // What the rounds of one size gave: of each contender its series, of each round the machine's state.
  struct Gathered {
    std::vector<Series> series;
    std::vector<double> probe_ns;
    std::vector<double> memcpy_gb_per_s;
    std::vector<std::size_t> wrong;  // elements that came to this rank; of each contender
  };

  // What a turn brings; what of it is wrong is added.
  using ArrivalsOf = std::function<Arrivals(const Contender& contender, std::size_t& wrong)>;

  [[nodiscard]] bool leads() const;
  SharedMemory open_team_memory();
  double try_out(const Contender& contender);
  [[nodiscard]] Plan plan_for(std::size_t bytes, double exchange_us) const;
  Gathered run_rounds(const std::vector<Contender>& contenders, const std::vector<Plan>& plans,
                      const ArrivalsOf& arrivals_of);
  Gathered run_all(std::size_t bytes, const std::vector<Contender>& contenders,
                   const ArrivalsOf& arrivals_of);
  static ArrivalsOf arrivals_of_calls(CollectiveBuffers& buffers);
  std::size_t count_all_wrong(std::size_t mine);
  std::optional<std::vector<Row>> make_rows(std::size_t bytes, const std::vector<Contender>& contenders,
                                            const Gathered& gathered);

  Library& library_;
  World& world_;
  const Measurement& measurement_;
  Idle idle_;
  Pair pair_;
  Waiting probe_waiting_;
  Waiting waiting_;
  Probe probe_;
  SharedMemory team_memory_;
  Gate pair_gate_;
  Gate team_gate_;
  Stage stage_;
  Turns turns_;
};

}  // namespace parley::bench
