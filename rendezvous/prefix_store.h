#pragma once

#include <parley/store.h>

#include <optional>
#include <string>

namespace parley::rendezvous {

// The host whose process keeps the store, as the caller named it; empty for this host, nothing when the store
// is of a class that Parley does not know.
std::optional<std::string> keeper_of(const Store& store);

}  // namespace parley::rendezvous
