#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/unique_fd.h"
#include "transport/interface/transport.h"
#include "transport/shm/bell.h"
#include "transport/shm/introduction.h"
#include "transport/shm/local_socket.h"
#include "transport/shm/pull_mover.h"
#include "transport/shm/shm_link.h"
#include "transport/socket/reactor.h"

namespace parley::transport {

// Links through shared memory, for processes of one user on one host. Everything happens on the thread that
// drives progress(); the reactor only wakes it.
class ShmTransport final : public Transport {
 public:
  // `reactor` outlives this object.
  ShmTransport(socket::Reactor& reactor, const shm::Self& self);
  ~ShmTransport() override;

  // This host has not a core for each rank. Before the first link.
  void share_cores() noexcept { windows_.set_bytes(shm::shared_core_window_bytes); }

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  // Fails where there is no shared memory or no descriptor to be had. Throws parley::ResourceError,
  // SystemError.
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override;
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override;
  std::size_t progress(Endpoint* awaited) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override {
    return !lists_.needy.empty() || !lists_.quiet.empty() || !lists_.pulling.movers.empty();
  }
  bool arm() noexcept override;
  void close() noexcept override;

 private:
  struct Failed {
    PeerId peer;
    base::Status status;
    std::string why;
  };

  ShmLink* own(Endpoint* awaited) noexcept;
  std::size_t ring_for_quiet_ones() noexcept;
  std::size_t look_around(bool at_all) noexcept;
  std::size_t look_at(std::size_t place) noexcept;
  std::size_t look_at_descriptors() noexcept;
  std::size_t meet() noexcept;
  std::size_t take_callers() noexcept;
  void admit(shm::Introduction introduction) noexcept;
  void give_up(shm::Introduction& introduction, base::Status status) noexcept;
  std::size_t tell_failures() noexcept;
  std::size_t use_room() noexcept;
  std::size_t pull() noexcept;
  std::size_t reap_ended() noexcept;
  bool watch(int descriptor, ShmLink* link) noexcept;
  void unwatch(int descriptor) noexcept;
  void unwatch(const ShmLink& link) noexcept;

  socket::Reactor& reactor_;
  const shm::Self self_;
  PacketSink* sink_ = nullptr;
  bool closed_ = false;
  bool armed_ = false;  // the bell tells that we may sleep

  std::optional<shm::OwnBell> bell_;
  std::optional<shm::LocalListener> listener_;
  base::UniqueFd spare_;   // closed to accept, and turn away, when there are no more descriptors
  base::UniqueFd events_;  // epoll set of listener, introductions and links, level-triggered
  std::vector<shm::Introduction> introductions_;
  std::vector<Failed> failures_;  // to be told
  // Outlives the links.
  shm::WindowPool windows_;
  std::vector<std::unique_ptr<ShmLink>> links_;  // those that were heard last come first
  ShmLinkLists lists_;
  std::vector<std::unique_ptr<PullMover>> movers_;  // one for each link, in any order
  Endpoint* last_awaited_ = nullptr;                // known to be ours
  std::size_t first_ = 0;                           // where the next look at recent links begins
  std::size_t next_recent_ = 0;                     // whose place the next one gets
  std::size_t next_other_ = 0;                      // behind the recent ones: whom the last look went to
  std::size_t pass_ = 0;
};

}  // namespace parley::transport
