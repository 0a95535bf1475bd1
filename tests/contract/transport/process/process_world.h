#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/transport/process/child.h"
#include "tests/contract/transport/transport_world.h"

namespace parley::transport::contract {

// Another world whose transports live in a forked process each. Parties, their rules and the tests stay in
// the test; whatever the transport does, it does in its process.
class ProcessWorld final : public TransportWorld {
 public:
  // A process that is silent for longer than the patience of a test is stuck.
  explicit ProcessWorld(std::unique_ptr<TransportWorld> inner,
                        std::chrono::milliseconds longest_silence = std::chrono::seconds(90))
      : inner_(std::move(inner)), longest_silence_(longest_silence) {}

  std::unique_ptr<Site> make_site() override;
  std::unique_ptr<Site> make_stranger_site() override;
  [[nodiscard]] bool keeps_strangers_out() const override { return inner_->keeps_strangers_out(); }
  [[nodiscard]] bool links_to_itself() const override { return inner_->links_to_itself(); }
  // Each is a question to another process and its answer, and TCP takes 150 000 of 16 bytes.
  [[nodiscard]] std::size_t small_bytes() const override { return 500; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return inner_->unreachable_addresses();
  }

 private:
  const std::unique_ptr<TransportWorld> inner_;
  const std::chrono::milliseconds longest_silence_;
};

// Both ways of driving one world, with a process for each transport.
inline std::vector<ContractCase> both_drives_of_processes(
    const std::string& name, std::function<std::unique_ptr<TransportWorld>()> make_world) {
  return both_drives(name + "Processes",
                     [make = std::move(make_world)] { return std::make_unique<ProcessWorld>(make()); });
}

}  // namespace parley::transport::contract
