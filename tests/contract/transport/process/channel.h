#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/base/status.h"
#include "transport/base/unique_fd.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/packet.h"
#include "transport/interface/sink.h"

namespace parley::transport::contract {

// What the test and a process with a transport say to each other.
enum class Verb : std::uint8_t {
  // The test asks, as Transport, Endpoint and Site name it; each request ends in `answer`.
  start,
  address,
  connect,
  stop_accepting,
  progress,
  unsent,
  arm,
  close,
  poll,
  announce_sleep,
  cancel_sleep,
  sleep,
  try_send,
  drained,
  close_link,
  answer,
  // No answer but the end of the process, in good order.
  end,
  // The process tells what its transport tells, in the middle of a request, as PacketSink names it. The test
  // may ask before it lets the process go on.
  linked,
  unreachable,
  packet,
  header,
  landed,
  writable,
  closed,
  completed,
  go_on,
};

// Fields that a verb does not need keep their defaults.
struct Message {
  Verb verb{};
  Endpoint::Urgency urgency{};
  PeerId peer = 0;
  std::uint64_t link = 0;    // number of an endpoint, from 1; 0: none
  std::uint64_t number = 0;  // a count, a truth, a deadline or a completion, by verb
  base::Status status = {};
  PacketHeader packet = {};
  std::vector<std::byte> body = {};
};

inline std::string_view text_of(const std::vector<std::byte>& body) {
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

// One end of a conversation. Only one side speaks at a time, so neither can block the other by writing.
class Channel {
 public:
  explicit Channel(base::UniqueFd socket) : socket_(std::move(socket)) {}

  // From now on receive() takes a longer silence for the end.
  void limit_silence(std::chrono::milliseconds longest);
  // False: nobody is there any more.
  bool send(const Message& message);
  // False: nobody is there any more, or the other side stays silent.
  bool receive(Message& message);
  // Whether the last receive() ended because of silence.
  [[nodiscard]] bool is_silent() const { return is_silent_; }

 private:
  bool receive_all(void* data, std::size_t bytes);

  base::UniqueFd socket_;
  bool is_silent_ = false;
};

}  // namespace parley::transport::contract
