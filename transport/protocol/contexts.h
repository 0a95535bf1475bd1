#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "transport/protocol/credit.h"

namespace parley::transport {

// A peer that is lost, and whose failure that was: its own, unless its goodbye named another.
struct Casualty {
  std::uint32_t peer = 0;
  std::uint32_t culprit = 0;
};

// A context of which only some processes are.
struct OpenContext {
  std::uint32_t context = 0;
  std::vector<std::uint32_t> members;  // their numbers, ascending; we are one of them
  std::vector<std::uint32_t> left;     // the members that have closed it
  std::optional<Casualty> casualty;    // the first of a member that was not acknowledged yet

  [[nodiscard]] bool has_member(std::uint32_t process) const noexcept;
  [[nodiscard]] bool has_left(std::uint32_t process) const noexcept;
};

// The contexts of groups, as one process sees them. A context that was never opened here is unknown; its
// messages wait, for their sender may have opened it a moment earlier. One that was closed is so for ever,
// for numbers are not used twice: whatever still comes is for nobody.
//
// Invariants: (1) a context is in one of {open_, closed_, neither}; (2) the ranges of closed_ are in order
// and do not touch; (3) closing allocates nothing: open() has reserved the room.
// Of each process, max_told_departures from unknown contexts are remembered, far more than there are groups
// in the making. Thread-safety: none. Cost: what was closed costs memory only where its number has a
// neighbour that was not.
class ContextTable {
 public:
  // REQUIRES: it is neither open nor closed. Throws std::bad_alloc; then nothing has changed.
  void open(std::uint32_t context, std::vector<std::uint32_t> members);
  // Does nothing unless it is open.
  void close(std::uint32_t context) noexcept;

  // Null: not open. Asked for every message and collective, mostly while none is.
  [[nodiscard]] const OpenContext* find(std::uint32_t context) const noexcept {
    return open_.empty() ? nullptr : find_open(context);
  }
  [[nodiscard]] OpenContext* find(std::uint32_t context) noexcept {
    return const_cast<OpenContext*>(std::as_const(*this).find(context));
  }
  [[nodiscard]] bool is_closed(std::uint32_t context) const noexcept;
  // Whether the process has closed a context that is open here.
  [[nodiscard]] bool has_left(std::uint32_t context, std::uint32_t process) const noexcept {
    const OpenContext* open = find(context);
    return open != nullptr && open->has_left(process);
  }
  [[nodiscard]] std::vector<OpenContext>& all_open() noexcept { return open_; }

  // A process has closed the context. False: it has closed too many of which we know nothing. Throws
  // std::bad_alloc.
  bool note_departure(std::uint32_t context, std::uint32_t process);

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  struct Departure {
    std::uint32_t context = 0;
    std::uint32_t process = 0;
  };

  [[nodiscard]] const OpenContext* find_open(std::uint32_t context) const noexcept;

  std::vector<OpenContext> open_;  // by number
  std::vector<Range> closed_;
  std::vector<Departure> early_;
};

}  // namespace parley::transport
