#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "api/operation.h"

namespace parley::detail {

// Has `fn` called once with the operation's error or nullptr: at once if it has ended, else when it ends,
// with no lock held. False: a function was attached before; nothing has changed.
bool attach(Operation& operation, std::function<void(std::exception_ptr)> fn);

// The same, and lets go of the request, which ends by itself. The operation is then empty.
void attach_and_release(Operation& operation, std::function<void(std::exception_ptr)> fn);

}  // namespace parley::detail
