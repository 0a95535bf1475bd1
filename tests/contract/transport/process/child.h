#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "tests/contract/transport/process/channel.h"
#include "tests/contract/transport/transport_world.h"

namespace parley::transport::contract {

// A forked process with a Host in it, seen from the test. A process that ends unasked, or that is silent for
// too long, fails the test and is killed.
// Thread-safety: ring() from any thread; the rest from one at a time. Made and destroyed while the test has
// one thread.
class Child {
 public:
  using MakeSite = std::function<std::unique_ptr<Site>()>;

  Child(const MakeSite& make_site, PeerId self, std::chrono::milliseconds longest_silence);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }

  [[nodiscard]] bool is_alive() const { return pid_ > 0; }
  // Hears what the process tells in the middle of a request.
  std::function<void(const Message&)> on_event;
  // The answer; one with nothing in it if the process is gone.
  Message ask(const Message& request);
  // Rings the doorbell of its site.
  void ring() noexcept;
  // Destroys transport and site there, and expects the process to end well.
  void end();
  // kill -9
  void kill();

 private:
  void lost();
  int wait();

  const PeerId self_;
  pid_t pid_ = 0;
  std::optional<Channel> channel_;
  base::UniqueFd bell_;
};

}  // namespace parley::transport::contract
