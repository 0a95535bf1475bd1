#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/contract/transport/process/child.h"
#include "transport/interface/transport.h"

namespace parley::transport::contract {

// A link of a transport in another process.
class RemoteEndpoint final : public Endpoint {
 public:
  // Completions of all links, numbered from 1.
  using Completions = std::vector<Completion*>;

  RemoteEndpoint(Child& child, Completions& completions, std::uint64_t number, std::size_t copy_limit_bytes)
      : child_(child), completions_(completions), number_(number), copy_limit_bytes_(copy_limit_bytes) {}

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return copy_limit_bytes_; }
  [[nodiscard]] bool drained() const noexcept override {
    return child_.ask({.verb = Verb::drained, .link = number_}).number != 0;
  }
  void close() noexcept override { child_.ask({.verb = Verb::close_link, .link = number_}); }

  [[nodiscard]] std::uint64_t number() const { return number_; }
  base::MemoryRef target;  // between on_header() and on_landed()

 private:
  Child& child_;
  Completions& completions_;
  const std::uint64_t number_;
  const std::size_t copy_limit_bytes_;
};

// A transport in a process of its own: each call is made there, and what it tells comes back, in the order
// and in the nesting in which it happens there. Its destructor ends the process: in good order after close(),
// else by kill -9.
// Thread-safety: as any transport.
class RemoteTransport final : public Transport {
 public:
  explicit RemoteTransport(Child& child);
  ~RemoteTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "remote"; }
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override;
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override { child_.ask({.verb = Verb::stop_accepting}); }
  std::size_t progress(Endpoint* awaited) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override {
    return child_.ask({.verb = Verb::unsent}).number != 0;
  }
  bool arm() noexcept override { return child_.ask({.verb = Verb::arm}).number != 0; }
  void close() noexcept override;

 private:
  void hear(const Message& event);
  void hear_of_link(const Message& event);

  Child& child_;
  PacketSink* sink_ = nullptr;
  bool closed_ = false;
  // All ever, so that what comes after the end of a link is seen: number n at n - 1.
  std::deque<std::unique_ptr<RemoteEndpoint>> links_;
  RemoteEndpoint::Completions completions_;
};

}  // namespace parley::transport::contract
