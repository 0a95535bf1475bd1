#pragma once

#include <parley/store.h>

#include <memory>

#include "rendezvous/store_limits.h"

namespace parley::rendezvous {

// A store inside this process, with limits of one's choice.
std::shared_ptr<Store> make_memory_store(const TableLimits& limits);

}  // namespace parley::rendezvous
