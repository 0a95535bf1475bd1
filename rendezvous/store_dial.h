#pragma once

#include <parley/store.h>

#include "transport/base/result.h"
#include "transport/socket/connection.h"

namespace parley::rendezvous {

// A connection to the store's host, authenticated by both ends and non-blocking, within options.timeout.
// Failures are those of socket::dial(). Throws SystemError when there is no secret to be had.
base::Result<socket::Connection> dial_store(const TcpStoreOptions& options);

}  // namespace parley::rendezvous
