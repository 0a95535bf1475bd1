#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transport/base/wire.h"

namespace parley::launch {

// What the launchers of a job on several hosts tell each other through the store. Pure data.

// A launcher, as it introduces itself.
struct NodeCard {
  std::int32_t nodes = 1;  // how many it believes there are
  std::int32_t ranks = 1;  // how many it starts
  std::string host;
  std::int64_t pid = 0;
  // "node 1 (host-b, pid 4711)"
  [[nodiscard]] std::string name(int node) const;
};

base::Bytes encode(const NodeCard& card);
// Nothing when the bytes are no card, or one of another version.
std::optional<NodeCard> decode_node_card(std::span<const std::byte> bytes);

// How the job ends, as the first node that knows says it.
struct NodeOutcome {
  enum class Kind : std::uint8_t {
    all_done,     // every rank of every node ended well
    failed,       // a rank failed, or a launcher is gone
    timed_out,    // the job's time was up
    interrupted,  // a launcher was sent a signal
  };
  Kind kind = Kind::all_done;
  std::int32_t node = 0;           // which says so, or which is gone
  std::string where = {};          // its name
  std::string sentence = {};       // "rank 5 failed first: ./solve (pid 12) exited with code 3 after 1.25 s"
  std::int32_t exit_code = 0;      // failed, timed_out: what every launcher exits with
  std::int32_t signal_number = 0;  // interrupted

  friend bool operator==(const NodeOutcome&, const NodeOutcome&) = default;
};

base::Bytes encode(const NodeOutcome& outcome);
std::optional<NodeOutcome> decode_node_outcome(std::span<const std::byte> bytes);

}  // namespace parley::launch
