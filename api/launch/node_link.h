#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/launch/node_messages.h"
#include "api/launch/node_place.h"
#include "transport/base/deadline.h"
#include "transport/base/unique_fd.h"

namespace parley {
class Store;
}

namespace parley::launch {

// This node's ranks among those of the job, which are numbered node by node.
struct NodeLayout {
  int first_rank = 0;
  int world_size = 1;
};

// A launcher's line to those of the other nodes, through the store that node 0 serves. One thread introduces
// this launcher, waits for all others, and from then on says every second that it lives and waits for the
// job's outcome.
//
// There is one outcome: what the first node proposes stands. It is proposed by a node whose rank fails, whose
// time is up or that is sent a signal; by the last node whose ranks have all ended well; and by node 0 for a
// node that has been silent for `silence_limit`. A node that loses node 0 has an outcome of its own.
//
// Thread-safety: the public methods, from one thread.
class NodeLink {
 public:
  static constexpr std::chrono::seconds beat_period{1};
  static constexpr std::chrono::seconds silence_limit{10};

  // `ranks`: how many this node starts. Returns at once. Throws SystemError.
  NodeLink(const NodePlace& place, int ranks);
  // Leaves the others. Waits for the thread, which once the job is decided takes no time; before, a second, 5
  // s while it tries to connect, and 15 s when node 0 has gone silent.
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  // Readable when layout(), outcome() or failure() may have changed.
  [[nodiscard]] int fd() const noexcept { return news_.get(); }
  void take_news() noexcept;

  // Set when all launchers have come.
  [[nodiscard]] std::optional<NodeLayout> layout() const;
  // Set when the job is decided.
  [[nodiscard]] std::optional<NodeOutcome> outcome() const;
  // Why this launcher could not join the others; empty otherwise.
  [[nodiscard]] std::string failure() const;
  // "node 1 (host-b, pid 4711)"
  [[nodiscard]] const std::string& own_name() const noexcept { return own_name_; }

  // Proposes how the job ends, unless that is decided; returns what stands. Takes 5 s at most.
  NodeOutcome propose(const NodeOutcome& outcome);
  // All ranks of this node have ended well; the last node to say so decides the job. Takes 10 s at most.
  void report_done();

 private:
  void run() noexcept;
  void connect();
  void introduce();
  void gather();
  void watch();
  bool await_outcome(std::chrono::nanoseconds patience);
  void look_for_silent_nodes();
  [[nodiscard]] std::string missing_nodes() const;
  [[nodiscard]] std::string advice() const;
  [[nodiscard]] std::shared_ptr<Store> store() const;
  void decide(const NodeOutcome& outcome);
  void announce() noexcept;

  const NodePlace place_;
  const NodeCard own_;
  const std::string own_name_;
  const base::Deadline gathered_by_;
  base::UniqueFd news_;
  std::atomic<bool> stopping_{false};

  mutable std::mutex mutex_;
  std::shared_ptr<Store> store_;
  std::optional<NodeLayout> layout_;
  std::optional<NodeOutcome> outcome_;
  std::string failure_;

  // Of the thread.
  struct Life {
    std::string beats;
    base::Clock::time_point changed;
  };
  std::vector<NodeCard> cards_;
  std::map<int, Life> lives_;

  std::thread thread_;
};

}  // namespace parley::launch
