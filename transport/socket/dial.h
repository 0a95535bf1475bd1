#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "transport/base/deadline.h"
#include "transport/base/result.h"
#include "transport/socket/connection.h"
#include "transport/socket/identity.h"
#include "transport/socket/reactor.h"

namespace parley::socket {

struct DialTarget {
  std::string host;  // numeric address or name
  std::uint16_t port = 0;
  bool is_published = false;  // by whoever listens there: if nobody does, nobody will any more
};

// Runs on the reactor, exactly once. The failure's status tells
//   refused      the handshake was refused: trying again is useless
//   unreachable  with the errno behind it. ETIMEDOUT, EHOSTUNREACH, ENETUNREACH: from the first try to the
//                last nothing has told that the host is there
//   timed_out    something was there, and did not answer to the end: it may be stopped, or busy
// Its message names every address tried, the reason of each, and what to do about it.
using DialHandler = std::function<void(base::Result<Connection>)>;

// Resolves, connects and proves who we are, trying every address of the name, and again every 20 to 250 ms
// while nobody listens there yet, until the deadline; a try that is not connected after 2 s is given up for
// the next. Where the target is published, an address that refuses
// connections ends it (`unreachable`).
// Thread-safety: may be called while another thread sleeps on the reactor.
void dial(Reactor& reactor, const DialTarget& target, const Identity& identity,
          const Credentials& credentials, base::Deadline deadline, DialHandler handler);

}  // namespace parley::socket
