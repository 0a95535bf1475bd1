#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/op.h"

namespace parley::bench {

// A window of messages that all differ, each received into memory of its own. In a measured window all
// messages are the same and end in one buffer, so that only the last one could be looked at: after each turn
// of a library its way of sending delivers these, which nobody times, and each byte is compared.
class DistinctMessages {
 public:
  // No more than this much memory, unless two messages need it: a turn is short.
  static constexpr std::size_t most_bytes = std::size_t{2} << 20;
  static constexpr int most_messages = 64;

  // `out` is what messages are sent from, each from one byte further on: the pattern of this rank, so many
  // bytes of it as a message has and most_messages. It stays the caller's. The other end sends that of
  // `partner`.
  DistinctMessages(std::uint8_t* out, std::size_t bytes, int partner);

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] std::span<std::uint8_t> out(int message) const noexcept;
  [[nodiscard]] std::span<std::uint8_t> in(int message) noexcept;

  // Compares what was received, and spoils it for the next time. So many bytes of the partner's `out` are
  // rewritten. Throws std::runtime_error, naming message and byte.
  void check(std::size_t rewritten_bytes);

 private:
  std::uint8_t* out_;
  std::size_t bytes_;
  int partner_;
  int count_;
  std::vector<std::uint8_t> in_;
};

// Delivers them as `op` moves its messages, on both ends of a pair: in a ping-pong one after the other by
// blocking calls, else a window at once. A System that can be asked for this has, each for the message of a
// number, send_distinct() and recv_distinct(), which return when it is done; post_send() and post_receive(),
// of a window; and finish_posted(), which returns when all of those are done.
template <typename System>
void exchange_distinct(System& system, Op op, bool leads, DistinctMessages& messages) {
  const bool is_ping_pong = operation(op).traffic == Traffic::ping_pong;
  for (int i = 0; i < messages.count(); ++i) {
    if (is_ping_pong && leads) {
      system.send_distinct(messages, i);
      system.recv_distinct(messages, i);
    } else if (is_ping_pong) {
      system.recv_distinct(messages, i);
      system.send_distinct(messages, i);
    } else if (receives_messages(op, leads)) {
      system.post_receive(messages, i);
    }
  }
  if (is_ping_pong) return;
  for (int i = 0; i < messages.count(); ++i)
    if (sends_messages(op, leads)) system.post_send(messages, i);
  system.finish_posted();
}

}  // namespace parley::bench
