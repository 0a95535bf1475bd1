#pragma once

#include <parley/work.h>

#include <memory>

#include "api/operation.h"

namespace parley::detail {

// How the library makes and opens a Work.
struct WorkAccess {
  // Gives `operation`, made by new, to an empty Work.
  static void begin(Work& work, Operation* operation) noexcept { work.operation_.reset(operation); }
  // nullptr once collected.
  static Operation* operation(Work& work) noexcept { return work.operation_.get(); }
  static bool has_failed(const Work& work) noexcept { return work.error_ != nullptr; }
  // The outcome of the Work's operation, which is then gone.
  static void settle(Work& work, const Outcome& outcome);
  static void set_status(Work& work, const RecvStatus& status) noexcept { work.status_ = status; }
  // Of an operation whose status was set, and which release() has let go.
  static void drop_taken(Work& work) noexcept { delete work.operation_.release(); }
};

}  // namespace parley::detail
