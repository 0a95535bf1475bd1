#pragma once

#include <parley/stream.h>
#include <parley/work.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "api/operation.h"
#include "api/stream_numbers.h"

namespace parley::detail {

// How the library makes and opens a Work.
struct WorkAccess {
  // Gives `operation`, made by new, to an empty Work.
  static void begin(Work& work, Operation* operation) noexcept { work.operation_.reset(operation); }
  // nullptr once collected.
  static Operation* operation(Work& work) noexcept { return work.operation_.get(); }
  static bool is_pending(const Work& work) noexcept { return work.operation_ != nullptr; }
  // Of one whose operation is gone: whether wait() throws, or orders a stream.
  static bool has_more_to_wait_for(const Work& work) noexcept {
    return work.error_ != nullptr || work.owes_order_;
  }
  // The outcome of the Work's operation, which is then gone.
  static void settle(Work& work, const Outcome& outcome);
  static void set_status(Work& work, const RecvStatus& status) noexcept { work.status_ = copy_of(status); }
  // Its memory is on that device.
  static void set_device(Work& work, int device) noexcept {
    work.device_ = static_cast<std::int16_t>(device);
    note_stream(work);
  }
  // The caller's current stream goes on after it.
  static void note_stream(Work& work) noexcept {
    if (work.device_ >= 0) [[unlikely]]
      work.stream_ = number_of_stream(current_stream());
  }
  static void set_error(Work& work, std::exception_ptr error) noexcept { work.error_ = std::move(error); }
  // Of an operation whose status was set, and which release() has let go.
  static void drop_taken(Work& work) noexcept { delete work.operation_.release(); }
};

}  // namespace parley::detail
