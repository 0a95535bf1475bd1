#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/intrusive_list.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"
#include "transport/socket/connection.h"
#include "transport/tcp/frame_receiver.h"
#include "transport/tcp/frame_sender.h"

namespace parley::transport {

struct UnsentTag;

// One TCP connection as an ordered link. Created and destroyed by TcpTransport.
class TcpLink final : public Endpoint, public base::ListHook<UnsentTag> {
 public:
  using UnsentList = base::IntrusiveList<TcpLink, UnsentTag>;

  // `unsent`: the transport's list of links that have something to write; the link enters and leaves it
  // itself.
  TcpLink(socket::Connection connection, PacketSink& sink, UnsentList& unsent);
  ~TcpLink() override;

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override {
    return FrameSender::copy_limit_bytes;
  }
  [[nodiscard]] bool drained() const noexcept override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> silence() noexcept override;
  void close() noexcept override;

  // From the transport's progress(): read and deliver; returns the number of events.
  std::size_t receive() noexcept;
  // From the transport's progress(): write what is left, or read it from a broken link; returns the number of
  // events.
  std::size_t write_unsent() noexcept;

  // Writing has failed; what the peer had sent before is still to be read, its goodbye above all.
  [[nodiscard]] bool broken() const noexcept { return broken_.failed(); }
  // Set once the link has ended: the transport reports and destroys it.
  [[nodiscard]] bool ended() const noexcept { return ended_.failed(); }
  [[nodiscard]] base::Status reason() const noexcept { return ended_; }
  // Completes what was under way; the last call before on_closed().
  void abandon() noexcept;

  // Whether there is something to write.
  [[nodiscard]] bool unsent() const noexcept { return !sender_.empty(); }
  [[nodiscard]] int descriptor() const noexcept { return connection_.descriptor(); }
  // What the transport's epoll set reports of this link; 0: the link is not in the set.
  std::uint32_t watched_events = 0;

 private:
  base::Status read(std::size_t& events) noexcept;
  void send_answers() noexcept;
  void note_unsent() noexcept;
  void note_broken(base::Status status) noexcept;
  std::size_t read_the_rest() noexcept;

  socket::Connection connection_;
  PacketSink& sink_;
  UnsentList& unsent_;
  FrameSender sender_;
  FrameReceiver receiver_;
  std::chrono::steady_clock::time_point silence_asked_{};
  std::chrono::steady_clock::time_point unacknowledged_since_{};  // at the latest, while it is asked for
  bool is_delivering_ = false;                                    // what is posted meanwhile leaves together
  bool has_answers_ = false;                                      // there is such
  bool refused_ = false;  // a try_send answered `again`: on_writable() is owed
  base::Status broken_;
  base::Status ended_;
};

}  // namespace parley::transport
