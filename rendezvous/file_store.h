#pragma once

#include <parley/store.h>

#include <memory>
#include <string>

#include "rendezvous/store_limits.h"

namespace parley::rendezvous {

// A store in a file, with limits of one's choice.
std::shared_ptr<Store> make_file_store(const std::string& path, const TableLimits& limits);

}  // namespace parley::rendezvous
