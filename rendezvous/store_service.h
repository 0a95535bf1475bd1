#pragma once

#include <functional>

#include "rendezvous/store_request.h"
#include "rendezvous/store_table.h"
#include "transport/base/deadline.h"

namespace parley::rendezvous {

// Must not throw. `wait` is what execute() returned.
using ReplyHandler = std::function<void(StoreTable::WaitId wait, Reply reply)>;

// Carries out one request on the table and answers exactly once: before returning (then it returns
// StoreTable::no_wait), or later from within the table, unless the returned wait is cancelled.
// REQUIRES: well_formed(request). The request's views need to live during the call only.
StoreTable::WaitId execute(StoreTable& table, const Request& request, base::Deadline deadline,
                           ReplyHandler handler);

}  // namespace parley::rendezvous
