#include "rendezvous/store_connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "rendezvous/store_service.h"
#include "transport/base/log.h"

namespace parley::rendezvous {

StoreConnection::StoreConnection(asio::io_context& context, Shared& shared)
    : shared_(shared),
      readiness_(context),
      reader_(shared.table.limits().operation_bytes + body_overhead_bytes) {}

StoreConnection::~StoreConnection() {
  readiness_.release();
}

void StoreConnection::start(socket::Connection connection) {
  connection_ = std::move(connection);
  readiness_.assign(connection_.descriptor());
  open_ = true;
  await_input();
}

void StoreConnection::close(std::string_view reason) {
  if (!open_) return;
  open_ = false;
  PARLEY_LOG(debug, "store", "connection of a client closed: ", reason);
  for (const StoreTable::WaitId wait : waits_) shared_.table.cancel(wait);
  waits_.clear();
  // shutdown first: a forked child may hold the socket open, and the client shall see the end all the same.
  ::shutdown(connection_.descriptor(), SHUT_RDWR);
  readiness_.release();
  connection_ = {};
  shared_.closed(*this);
}

// Waits without a buffer, so that an idle client costs no memory for input.
void StoreConnection::await_input() {
  readiness_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](const asio::error_code& error) {
                          if (self->open_ && !error) self->read();
                        });
}

void StoreConnection::read() try {
  const auto scratch = shared_.scratch;
  do {
    const ssize_t received = connection_.receive(scratch.data(), scratch.size());
    if (received == 0) return close("the client left");
    if (received > 0) {
      take(scratch.first(static_cast<std::size_t>(received)));
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return close(std::generic_category().message(errno));
    }
  } while (open_ && connection_.unread());
  if (open_) await_input();
} catch (const std::exception& error) {
  PARLEY_LOG(warn, "store", "a client is dropped: ", error.what());
  close(error.what());
}

void StoreConnection::take(std::span<const std::byte> bytes) {
  Frame frame;
  while (open_) {
    switch (reader_.step(bytes, frame)) {
      case FrameReader::Step::more: return;
      case FrameReader::Step::frame: serve(frame); break;
      case FrameReader::Step::violation:
        PARLEY_LOG(warn, "store", "a client is dropped: ", reader_.problem());
        return close(reader_.problem());
    }
  }
}

void StoreConnection::serve(const Frame& frame) {
  const auto request = decode_request(frame);
  if (!request) {
    PARLEY_LOG(warn, "store", "a client is dropped: command ", static_cast<unsigned>(frame.kind),
               " is unknown or malformed");
    return close("malformed request");
  }
  const auto deadline = base::Deadline::after(request->timeout);
  // The table may outlive our owner's interest: the handler keeps us until it ran or close() cancelled it.
  const auto wait =
      execute(shared_.table, *request, deadline,
              [self = shared_from_this(), id = frame.id](StoreTable::WaitId ended, const Reply& reply) {
                self->answer(id, ended, reply);
              });
  if (wait != StoreTable::no_wait) waits_.insert(wait);
}

// Runs inside the table, perhaps during another client's request: nothing may be thrown from here.
void StoreConnection::answer(std::uint64_t request, StoreTable::WaitId wait, const Reply& reply) noexcept
    try {
  waits_.erase(wait);
  if (!open_) return;
  if (output_bytes_ > shared_.table.limits().output_bytes) {
    PARLEY_LOG(warn, "store", "a client is dropped: it does not read its replies");
    return close("slow reader");
  }
  output_.push_back(encode_reply(request, reply));
  output_bytes_ += output_.back().size();
  if (output_.size() == 1) write();
} catch (const std::exception& error) {
  PARLEY_LOG(warn, "store", "a client is dropped: ", error.what());
  close(error.what());
}

// Writes what the socket takes, and goes on when it takes more.
void StoreConnection::write() {
  while (open_ && !output_.empty())
    if (!write_some()) return;
}

// False: nothing more for now.
bool StoreConnection::write_some() {
  const base::Bytes& first = output_.front();
  const ssize_t sent = connection_.send(first.data() + written_, first.size() - written_);
  if (sent < 0 && errno == EINTR) return true;
  if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
    // Not closed here, inside the table: the reader will see the end.
    ::shutdown(connection_.descriptor(), SHUT_RDWR);
    return false;
  }
  if (sent < 0) {
    readiness_.async_wait(asio::posix::stream_descriptor::wait_write,
                          [self = shared_from_this()](const asio::error_code& error) {
                            if (self->open_ && !error) self->write();
                          });
    return false;
  }
  written_ += static_cast<std::size_t>(sent);
  if (written_ == first.size()) {
    written_ = 0;
    output_bytes_ -= first.size();
    output_.pop_front();
  }
  return true;
}

}  // namespace parley::rendezvous
