#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/doorbell.h"
#include "transport/interface/transport.h"

namespace parley::transport::contract {

// Where one transport lives, as an engine would house it: with what runs beside it and what it sleeps on.
// Thread-safety: doorbell().ring() from any thread; the rest from the thread that drives the transport.
class Site {
 public:
  virtual ~Site() = default;

  // Called once. The transport dies before its site.
  virtual std::unique_ptr<Transport> make(PeerId self) = 0;

  // Runs what the transport needs beside its progress(), without blocking; returns the number of events.
  virtual std::size_t poll() { return 0; }

  // Two-phase sleep: announce_sleep(), look once more (Transport::arm()), then sleep() or cancel_sleep().
  virtual void announce_sleep() {}
  virtual void cancel_sleep() {}
  virtual void sleep(base::Deadline deadline) = 0;
  virtual base::Doorbell& doorbell() = 0;
};

// The one thing to write for another transport: how to make some that can reach each other.
class TransportWorld {
 public:
  virtual ~TransportWorld() = default;
  virtual std::unique_ptr<Site> make_site() = 0;
  // A site whose transport does not know the secret of the others. Asked for where keeps_strangers_out().
  virtual std::unique_ptr<Site> make_stranger_site() { return nullptr; }
  // Whether it takes a secret to get a link.
  [[nodiscard]] virtual bool keeps_strangers_out() const { return false; }
  // Whether a transport may connect to its own address.
  [[nodiscard]] virtual bool links_to_itself() const = 0;
  // Addresses at which nobody answers, malformed ones among them.
  [[nodiscard]] virtual std::vector<std::string> unreachable_addresses() const = 0;
  // A small packet, of which a link takes as many as it has room for. Larger where each takes long.
  [[nodiscard]] virtual std::size_t small_bytes() const { return 16; }
};

// How the transports of a test are driven.
enum class Drive : unsigned char {
  one_thread,     // all in turn, never sleeping
  a_thread_each,  // and asleep, without a time limit of its own, whenever idle
};

// One parameter of the suite.
struct ContractCase {
  std::string name;
  std::function<std::unique_ptr<TransportWorld>()> make_world;
  Drive drive = Drive::one_thread;
};

inline void PrintTo(const ContractCase& one, std::ostream* out) {
  *out << one.name;
}

// Both ways of driving one world.
inline std::vector<ContractCase> both_drives(const std::string& name,
                                             std::function<std::unique_ptr<TransportWorld>()> make_world) {
  return {{name + "OneThread", make_world, Drive::one_thread},
          {name + "AThreadEach", make_world, Drive::a_thread_each}};
}

}  // namespace parley::transport::contract
