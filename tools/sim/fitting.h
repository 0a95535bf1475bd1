#pragma once

#include <functional>
#include <vector>

#include "tools/sim/model.h"
#include "tools/sim/rows.h"

namespace parley::sim {

// Picks rows, and numbers of a model that can be fitted.
using Which = std::function<bool(const Row&)>;
using Numbers = std::vector<double*>;
using NumbersOf = std::function<Numbers(Model&)>;

// A model on its way to measured rows. Borrows the rows.
class Fitting {
 public:
  Fitting(const std::vector<Row>& rows, Model start) : rows_(rows), model_(std::move(start)) {}

  // Moves these numbers, and no others, to where the model predicts these rows best.
  void improve(const NumbersOf& numbers, const Which& which);
  // Cuts messages of a tier into pieces where its times of `latency` bend.
  void cut_messages(bool is_shared);
  // Cuts shared memory into pieces where other prices explain times of collectives better: a curve alone may
  // bend because another algorithm is taken.
  void cut_shared_memory();
  // Lets pieces of a tier begin at other sizes, between the last one of `latency` before and the first one
  // after, if collectives, which cut what they move, say so. Whether it did.
  bool move_borders(bool is_shared);

  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] Tier& tier(bool is_shared) noexcept { return is_shared ? model_.near : model_.far; }

 private:
  [[nodiscard]] double squares_of(const Which& which) const;

  const std::vector<Row>& rows_;
  Model model_;
};

}  // namespace parley::sim
