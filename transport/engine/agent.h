#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/protocol/request.h"

namespace parley::transport {

struct AgentTag;

// Who goes on with something of its own, under the lock, after what it has waited for: see Engine::wake().
// Who runs a composite request is its `agent`, as an Agent*.
struct Agent : base::ListHook<AgentTag> {
  // What a composite waits for, for those who look for deadlocks.
  struct Awaited {
    Request* request = nullptr;  // one of its parts, met by nothing yet; null: there is none
    std::uint64_t note = 0;      // with which the message of a receive comes
    std::size_t functions = 0;   // completion functions of all its parts
  };

  virtual void advance() noexcept = 0;
  [[nodiscard]] virtual Awaited awaited() const noexcept { return {}; }

 protected:
  ~Agent() = default;
};
using AgentList = base::IntrusiveList<Agent, AgentTag>;

struct WatcherTag;

// Who waits for something that only a look tells of, in memory that other processes write: see
// Engine::watch(). They ring this process's bell if it sleeps.
struct Watcher : base::ListHook<WatcherTag> {
  // True: it has come. Called at every look at the network: costs no more than a look at a cache line, and
  // changes no list of watchers; what follows is an agent's to do.
  virtual bool look() noexcept = 0;

 protected:
  ~Watcher() = default;
};
using WatcherList = base::IntrusiveList<Watcher, WatcherTag>;

}  // namespace parley::transport
