#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>

#include "rendezvous/store_dial.h"
#include "rendezvous/store_frame.h"
#include "tests/contract/store/store_fixture.h"
#include "transport/socket/connection.h"

namespace parley::test {

// An authenticated connection on which a test sends what it likes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) {
    auto socket = rendezvous::dial_store(options_for(port));
    if (!socket) throw std::runtime_error(socket.failure().message);
    connection_ = std::move(socket).value();
  }

  // Whether all bytes went out; false when the host closed or takes nothing for `limit`.
  bool send(std::span<const std::byte> data, std::chrono::milliseconds limit = patience) {
    while (!data.empty()) {
      const ssize_t sent = connection_.send(data.data(), data.size());
      if (sent > 0)
        data = data.subspan(static_cast<std::size_t>(sent));
      else if (errno != EAGAIN || !wait(POLLOUT, limit))
        return false;
    }
    return true;
  }

  // The next frame, or nothing when the host closed.
  std::optional<rendezvous::Frame> receive() {
    rendezvous::Frame frame;
    for (;;) {
      auto input = std::span<const std::byte>(buffer_).subspan(begin_, end_ - begin_);
      const auto step = reader_.step(input, frame);
      begin_ = end_ - input.size();
      if (step == rendezvous::FrameReader::Step::frame) return frame;
      if (step == rendezvous::FrameReader::Step::violation || !fill()) return std::nullopt;
    }
  }

  // Whether the host closes the connection without another frame.
  bool closed_by_host() { return !receive(); }

 private:
  bool wait(short events, std::chrono::milliseconds limit) {
    pollfd entry{connection_.descriptor(), events, 0};
    return ::poll(&entry, 1, static_cast<int>(limit.count())) == 1;
  }
  bool fill() {
    if (!connection_.unread() && !wait(POLLIN, patience)) {
      ADD_FAILURE() << "the host neither answers nor closes";
      return false;
    }
    const ssize_t received = connection_.receive(buffer_.data(), buffer_.size());
    begin_ = 0;
    end_ = received > 0 ? static_cast<std::size_t>(received) : 0;
    return received > 0;
  }

  socket::Connection connection_;
  rendezvous::FrameReader reader_{std::size_t{32} << 20};
  std::array<std::byte, 4096> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace parley::test
