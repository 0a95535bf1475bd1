#include <parley/error.h>
#include <parley/store.h>

#include <chrono>
#include <string>
#include <utility>

#include "rendezvous/request_store.h"
#include "rendezvous/store_channel.h"
#include "rendezvous/store_codec.h"
#include "rendezvous/store_dial.h"
#include "rendezvous/store_text.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley {
namespace rendezvous {
namespace {

// A store kept by another process.
class TcpStore final : public RequestStore {
 public:
  TcpStore(socket::Connection connection, const TcpStoreOptions& options, const TableLimits& limits)
      : RequestStore(limits),
        keeper_(options.host),
        host_(endpoint_text(options.host, options.port)),
        // The server's limits count for what it sends, and these are the largest it may have.
        channel_(std::move(connection), "the store at " + host_,
                 table_limits(largest_limits).operation_bytes + body_overhead_bytes) {}
  [[nodiscard]] std::string keeper() const override { return keeper_; }

 private:
  base::Result<Reply> call(const Request& request) override {
    const std::uint64_t id = channel_.next_id();
    const auto answer =
        may_wait(request.command) ? StoreChannel::Answer::may_wait : StoreChannel::Answer::at_once;
    auto frame = channel_.call(id, encode_request(id, request), answer, request.timeout);
    if (!frame) return frame.failure();
    if (auto reply = decode_reply(frame.value(), request)) return *std::move(reply);
    channel_.lose("a reply does not fit its request");
    return base::Failure{base::Code::protocol_violation,
                         base::concat("lost the store at ", host_, " (a reply does not fit its request)")};
  }
  [[nodiscard]] std::string host() const override { return host_; }

  const std::string keeper_;
  const std::string host_;
  StoreChannel channel_;
};

// The failure's message names the address and what became of each attempt.
[[noreturn]] void throw_unconnected(const std::string& host, const base::Failure& failure,
                                    base::Clock::time_point begin) {
  ErrorDetails details;
  details.operation = "store connect";
  details.host = host;
  details.elapsed = base::Clock::now() - begin;
  const auto text = base::concat("store connect: ", failure.message);
  if (failure.status.code() == base::Code::refused) throw StoreError(text, details);
  throw StoreTimeoutError(text, details);  // tried until the deadline
}

}  // namespace
}  // namespace rendezvous

std::shared_ptr<Store> connect_tcp_store(const TcpStoreOptions& options) {
  const auto begin = base::Clock::now();
  const rendezvous::TableLimits limits = rendezvous::table_limits(options.limits);
  auto socket = rendezvous::dial_store(options);
  if (!socket) {
    const auto host = rendezvous::endpoint_text(options.host, options.port);
    rendezvous::throw_unconnected(host, socket.failure(), begin);
  }
  auto store = std::make_shared<rendezvous::TcpStore>(std::move(socket).value(), options, limits);
  store->set_timeout(options.timeout);
  return store;
}

}  // namespace parley
