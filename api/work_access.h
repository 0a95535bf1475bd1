#pragma once

#include <parley/work.h>

#include <memory>

#include "api/operation.h"

namespace parley::detail {

// How the library makes and opens a Work.
struct WorkAccess {
  // Gives `operation`, made by new, to an empty Work.
  static void begin(Work& work, Operation* operation) noexcept { work.operation_.reset(operation); }
  static Operation* operation(Work& work);  // nullptr once collected
  // The outcome of the Work's operation, which is then gone.
  static void settle(Work& work, const Outcome& outcome);
  static void set_status(Work& work, const RecvStatus& status) noexcept { work.status_ = status; }
  // Of an operation whose status was set and whose request was released.
  static void drop_taken(Work& work) noexcept { work.operation_.reset(); }
};

}  // namespace parley::detail
