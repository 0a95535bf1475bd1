#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/contract/transport/checked_link.h"
#include "tests/contract/transport/transport_world.h"

namespace parley::transport::contract {

// A connect() that came to nothing.
struct Unreachable {
  PeerId peer = 0;
  base::Status status;
  std::string why;
};

// One process of a test, as it is seen from outside: a site, its transport, and a sink that checks all it is
// told. Thread-safety: none; one thread at a time.
class Party final : public PacketSink {
 public:
  Party(std::unique_ptr<Site> site, PeerId self);
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;
  ~Party();

  [[nodiscard]] PeerId self() const { return self_; }
  [[nodiscard]] Site& site() { return *site_; }
  // REQUIRES: not killed
  [[nodiscard]] Transport& transport() { return *transport_; }
  [[nodiscard]] bool is_alive() const { return transport_ != nullptr; }

  void connect(PeerId peer, const std::string& address, base::Deadline deadline = patience());
  // One round of what an engine does; returns the number of events, 0 when idle.
  std::size_t step();
  // Sleeps until something happens, as an engine does. `stop` is looked at once more before.
  void sleep(base::Deadline deadline, const std::function<bool()>& stop);
  // Transport::close()
  void close();
  // Dies: nothing more is told to anybody here.
  void kill();

  // All links ever, in the order of on_link().
  [[nodiscard]] const std::vector<std::unique_ptr<CheckedLink>>& links() const { return links_; }
  // The first link to `peer`, or nullptr.
  [[nodiscard]] CheckedLink* link_to(PeerId peer) const;
  [[nodiscard]] const std::vector<Unreachable>& unreachable() const { return unreachable_; }
  [[nodiscard]] std::string describe() const;

  // Part of step(), outside of all callbacks. Returns whether it did something.
  std::function<bool()> each_step;
  // Runs at the end of on_link().
  std::function<void(CheckedLink&)> on_linked;
  // The awaited link of step(), or nullptr.
  CheckedLink* awaited = nullptr;

  // So long anything may take on a slow machine before a test gives up: 60 s, or PARLEY_CONTRACT_PATIENCE,
  // which is a number of seconds.
  static base::Deadline patience();

 private:
  void on_link(PeerId peer, Endpoint& endpoint) noexcept override;
  void on_unreachable(PeerId peer, base::Status status, std::string_view why) noexcept override;
  void on_packet(Endpoint& endpoint, const PacketHeader& header,
                 std::span<const std::byte> payload) noexcept override;
  base::MemoryRef on_header(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_writable(Endpoint& endpoint) noexcept override;
  void on_closed(Endpoint& endpoint, base::Status reason) noexcept override;

  CheckedLink& link_of(Endpoint& endpoint) const;
  std::size_t take_arrived();

  const PeerId self_;
  const std::unique_ptr<Site> site_;
  std::unique_ptr<Transport> transport_;
  bool inside_ = false;  // progress(), take_arrived() or close()
  std::vector<std::unique_ptr<CheckedLink>> links_;
  std::size_t steps_ = 0;
  std::vector<Unreachable> unreachable_;
};

using Parties = std::vector<std::unique_ptr<Party>>;

// Drives all parties until `finished` has been true once for each, evaluated by its own thread. Fails the
// test when that takes longer than patience().
void run_until(Parties& parties, Drive drive, const std::function<bool(Party&)>& finished);

}  // namespace parley::transport::contract
