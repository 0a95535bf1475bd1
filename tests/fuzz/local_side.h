#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fuzz/input.h"
#include "transport/protocol/messenger.h"
#include "transport/tcp/frame_receiver.h"

namespace parley::fuzz {

// A link that accepts what it is told to, and reads payloads as late as it may.
class ForgedLink final : public transport::Endpoint {
 public:
  explicit ForgedLink(transport::FrameReceiver& receiver) : receiver_(receiver) {}

  base::Status try_send(const transport::PacketHeader& header, const base::ConstMemoryRef& payload,
                        transport::Completion* done, Urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return 1024; }
  [[nodiscard]] bool drained() const noexcept override { return reading_ == nullptr; }
  void close() noexcept override;

  // Ends the payload that is being read, if any.
  void finish_reading(base::Status status);
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  bool refuses = false;

 private:
  transport::FrameReceiver& receiver_;
  bool closed_ = false;
  transport::Completion* reading_ = nullptr;
  base::ConstMemoryRef payload_;
};

// A mover whose peer says what it likes: that it has pulled what it has not, and offers what is not there.
class ForgedMover final : public transport::Mover {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "forged"; }
  [[nodiscard]] std::string describe() const override { return "forged"; }
  std::optional<transport::Exposure> expose(base::ConstMemoryRef memory) noexcept override;
  bool withdraw(std::uint64_t handle) noexcept override;
  void note_pulled(std::uint64_t handle) noexcept override;
  base::Status pull(const transport::RemoteKey& key, base::MemoryRef into,
                    transport::Completion& done) noexcept override;
  [[nodiscard]] bool outruns_links(const transport::RemoteKey& key) const noexcept override {
    return key.bytes[0] == std::byte{2};
  }
  void stop(transport::Completion& done) noexcept override;

  // The oldest pull ends.
  void end_a_pull(Input& input);

  bool has_taken = false;  // what is withdrawn from now on

 private:
  struct Pull {
    base::MemoryRef into;
    transport::Completion* done = nullptr;
  };
  std::vector<Pull> pulls_;
  std::vector<std::uint64_t> exposed_;  // handles
};

// The side that is attacked: process 0 of three, linked to process 1, which is the attacker, and to nobody
// else.
class LocalSide {
 public:
  explicit LocalSide(transport::FrameReceiver& receiver);
  ~LocalSide();

  [[nodiscard]] transport::Endpoint& link() noexcept { return link_; }
  [[nodiscard]] transport::PacketSink& sink() noexcept { return messenger_; }
  [[nodiscard]] bool linked() const noexcept { return linked_ && !link_.closed(); }

  // One call of the user, or one event of the link.
  void act(Input& input);
  // The link is down.
  void end(base::Status reason);
  // Ends the link if it is still there. Nothing may be pending with process 1 then.
  void finish();

  // What an attacker who knows this side would write in a header.
  std::int64_t likely_tag(Input& input);
  std::uint32_t likely_id(Input& input);
  std::uint64_t likely_size(Input& input, std::uint32_t payload_bytes);

 private:
  struct Operation {
    std::unique_ptr<std::byte[]> buffer;  // of its exact size, so that a byte too many is seen
    transport::Request* request = nullptr;
  };
  void change_group();
  std::uint32_t context_of(Input& input);
  void send(Input& input);
  void receive(Input& input);
  void probe(Input& input);
  void keep(std::unique_ptr<std::byte[]> buffer, const transport::Posted& posted);
  void let_go(Input& input);
  transport::Request* any_request(Input& input);
  transport::ReceiveSpec spec_of(Input& input, std::unique_ptr<std::byte[]>& buffer);

  ForgedMover mover_;
  ForgedLink link_;
  transport::Messenger messenger_;
  std::vector<Operation> operations_;
  std::vector<std::unique_ptr<std::byte[]>> released_;  // buffers of released requests live to the end
  std::vector<transport::Unexpected*> held_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  bool linked_ = true;
  static constexpr std::uint32_t first_group = 3;
  static constexpr std::uint32_t last_group = 12;
  std::uint32_t group_ = first_group;  // opened by the first change_group() after it
};

}  // namespace parley::fuzz
