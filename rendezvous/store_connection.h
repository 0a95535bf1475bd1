#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "rendezvous/store_codec.h"
#include "rendezvous/store_frame.h"
#include "rendezvous/store_table.h"
#include "transport/socket/connection.h"

namespace parley::rendezvous {

// The host's end of one client's connection: reads requests, carries them out on the table, writes replies.
// Never stops reading; a client that does not read its replies is dropped when too many are queued.
//
// States: open (reads and writes) → closed (its socket is shut, its waits are cancelled; final).
// Everything runs on the thread of the io_context.
class StoreConnection : public std::enable_shared_from_this<StoreConnection> {
 public:
  // What all connections of a server share; outlives them.
  struct Shared {
    StoreTable& table;
    std::span<std::byte> scratch;                  // what was just received
    std::function<void(StoreConnection&)> closed;  // called once, when a connection closes
  };

  StoreConnection(asio::io_context& context, Shared& shared);
  ~StoreConnection();

  // Takes the socket and begins to read. REQUIRES: owned by a shared_ptr.
  void start(socket::Connection connection);
  // Ends everything of this client. The reason is for the log.
  void close(std::string_view reason);

 private:
  void await_input();
  void read();
  void take(std::span<const std::byte> bytes);
  void serve(const Frame& frame);
  void answer(std::uint64_t request, StoreTable::WaitId wait, const Reply& reply) noexcept;
  void write();
  bool write_some();

  Shared& shared_;
  socket::Connection connection_;
  asio::posix::stream_descriptor readiness_;  // of the connection's socket, which it does not own
  bool open_ = false;
  FrameReader reader_;
  std::set<StoreTable::WaitId> waits_;  // under way for this client
  std::deque<base::Bytes> output_;      // the first is being written
  std::size_t output_bytes_ = 0;
  std::size_t written_ = 0;  // of the first
};

}  // namespace parley::rendezvous
