#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "transport/base/deadline.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"

namespace parley::transport {

// A way in which bytes move between two processes. It knows neither rank nor group nor store.
// Lifecycle: start() once, then connect()/progress() as often as needed, close(), then progress() until it
// returns 0, then destroy. An object whose start() failed may be destroyed at once.
// Thread-safety: none; one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // Begins to accept links and to deliver to `sink`, which outlives this object.
  virtual base::Status start(PacketSink& sink) = 0;

  // What another process hands to connect() to reach this one; opaque to everybody else.
  // REQUIRES: start() succeeded.
  [[nodiscard]] virtual std::string address() const = 0;

  // Begins a link to the process that published `address` and calls itself `peer`. Ends in on_link() or, at
  // the deadline at the latest, in on_unreachable().
  virtual void connect(PeerId peer, std::string_view address, base::Deadline deadline) = 0;

  // No more links are accepted; those that exist go on.
  virtual void stop_accepting() noexcept = 0;

  // Moves what can be moved and delivers what has arrived, within a budget; never blocks. `awaited` (may be
  // null) is looked at first; the others in rotating order. Returns the number of events: 0 means idle.
  virtual std::size_t progress(Endpoint* awaited) noexcept = 0;

  // Whether packets that were taken, or pulls, wait in this process for progress() to move them on.
  [[nodiscard]] virtual bool unsent() const noexcept = 0;

  // Before a sleep, or a look as rare as one: makes sure that the reactor or the doorbell wakes for the next
  // event, and that the next progress() asks for everything. False: something is pending already, do not
  // sleep.
  virtual bool arm() noexcept = 0;

  // Closes every link and refuses new ones.
  virtual void close() noexcept = 0;
};

}  // namespace parley::transport
