#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "rendezvous/store_frame.h"
#include "transport/base/deadline.h"
#include "transport/base/fork_guard.h"
#include "transport/base/result.h"
#include "transport/socket/connection.h"

namespace parley::rendezvous {

// The client's end of a connection to a store's host. Many threads call at once; there is no thread of its
// own: one of the callers that wait reads from the socket and hands the others their replies, and passes this
// role on when it leaves.
//
// Invariants:
// (1) `reading_`: exactly one thread may touch `reader_`, `input_` and receive from the socket.
// (2) `writing_`: exactly one thread may send to the socket; frames never mix.
// (3) While a call waits for its reply and nobody reads, some waiting call is being woken to read.
// (4) The host never stops reading, so a writer makes progress though nobody reads.
// (5) Once `lost_` is set it stays, and every call, present and future, ends.
// (6) `silent_since_` is set when a caller has waited in vain and nothing came since its answer was due, to
//     that time. Whatever comes next ends the silence. While it lasts, the time that it has lasted counts as
//     waited for each call, so that many calls to a host that is gone cost little more than one.
//
// Thread-safety: all methods; destroy when no call is under way.
class StoreChannel {
 public:
  // `peer` is "host:port", for messages.
  StoreChannel(socket::Connection connection, std::string peer, std::size_t max_body_bytes);
  ~StoreChannel();
  StoreChannel(const StoreChannel&) = delete;
  StoreChannel& operator=(const StoreChannel&) = delete;

  // Whether the host answers a request as soon as it comes, or may keep it until its timeout.
  enum class Answer : std::uint8_t { at_once, may_wait };

  // A number for the next request.
  std::uint64_t next_id() noexcept;

  // Sends a request frame made with `id` and returns its reply, 2 s after the timeout at the latest. Fails
  // with `timed_out` (the channel stays usable) or `peer_died`. While the host is silent, a call whose time
  // is over is still sent, and fails at once; one that may wait fails at its timeout.
  base::Result<Frame> call(std::uint64_t id, std::span<const std::byte> frame, Answer answer,
                           std::chrono::nanoseconds timeout);

  // Ends all calls, present and future, with this reason.
  void lose(const std::string& reason);

 private:
  struct Call {
    std::optional<Frame> reply;
    std::condition_variable changed;
    bool waiting = false;  // sleeps on `changed`
  };
  enum class Sent { all, nothing, cut_short, broken };
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] base::Deadline last_moment(base::Deadline due, std::chrono::nanoseconds timeout) const;
  base::Failure no_answer(base::Deadline due);
  bool take_write_turn(Lock& lock, base::Deadline deadline);
  void send(Lock& lock, std::span<const std::byte> frame, base::Deadline deadline);
  Sent send_all(std::span<const std::byte> frame, base::Deadline deadline, int& error);
  void await(Lock& lock, Call& call, base::Deadline deadline);
  void read_once(Lock& lock, base::Deadline deadline);
  void deliver(std::span<const std::byte> bytes);
  void lose_locked(const std::string& reason);
  void pass_reading_on();

  socket::Connection connection_;
  const std::string peer_;
  const base::ForkGuard fork_guard_;
  std::atomic<std::uint64_t> last_id_{0};

  std::mutex mutex_;
  std::condition_variable write_turn_;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<std::string> lost_;
  base::Clock::time_point last_heard_{};
  std::optional<base::Clock::time_point> silent_since_;
  std::map<std::uint64_t, Call*> calls_;  // not yet answered or given up

  FrameReader reader_;                        // of the reading thread
  std::array<std::byte, 64 * 1024> input_{};  // of the reading thread
};

}  // namespace parley::rendezvous
