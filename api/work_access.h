#pragma once

#include <parley/work.h>

#include <memory>

#include "api/operation.h"

namespace parley::detail {

// How the library makes and opens a Work.
struct WorkAccess {
  static Work make(std::unique_ptr<Operation, OperationRelease> operation);
  static Work make_done(const RecvStatus& status);
  static Operation* operation(Work& work);  // nullptr once collected
  // Takes the outcome of an ended operation into the Work.
  static void collect(Work& work);
};

}  // namespace parley::detail
