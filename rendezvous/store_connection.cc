#include "rendezvous/store_connection.h"

#include <sys/socket.h>

#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "rendezvous/store_service.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

int family_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::system_error(errno, std::generic_category(), "getsockname");
  return address.ss_family;
}

}  // namespace

StoreConnection::StoreConnection(asio::io_context& context, Shared& shared)
    : shared_(shared),
      socket_(context),
      reader_(shared.table.limits().operation_bytes + body_overhead_bytes) {}

void StoreConnection::start(base::UniqueFd socket) {
  socket_.assign({family_of(socket.get()), 0}, socket.get());
  [[maybe_unused]] const int owned_by_socket = socket.release();
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
  asio::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_both, ignored);
  socket_.close(ignored);
  shared_.closed(*this);
}

// Waits without a buffer, so that an idle client costs no memory for input.
void StoreConnection::await_input() {
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](const asio::error_code& error) {
                       if (self->open_ && !error) self->read();
                     });
}

void StoreConnection::read() try {
  const auto scratch = shared_.scratch;
  const ssize_t received = ::recv(socket_.native_handle(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (received == 0) return close("the client left");
  if (received > 0) {
    take(scratch.first(static_cast<std::size_t>(received)));
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    return close(std::generic_category().message(errno));
  }
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

void StoreConnection::write() {
  asio::async_write(socket_, asio::buffer(output_.front()),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      if (!self->open_) return;
                      if (error) return self->close(error.message());
                      self->output_bytes_ -= self->output_.front().size();
                      self->output_.pop_front();
                      if (!self->output_.empty()) self->write();
                    });
}

}  // namespace parley::rendezvous
