#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/multiprocess/launch/command.h"

namespace parley::testing {

// A host of its own on this machine: a network namespace with a name, held by a process that dies with the
// test. Namespace and interfaces are gone as soon as that process is, however the test ends.
//
// Throws std::runtime_error, which fails the test, when this user may not make one.
class NamespaceHost {
 public:
  explicit NamespaceHost(const std::string& name);
  ~NamespaceHost();
  NamespaceHost(const NamespaceHost&) = delete;
  NamespaceHost& operator=(const NamespaceHost&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // The command, run on this host.
  [[nodiscard]] std::vector<std::string> on(const std::vector<std::string>& command) const;
  // Runs "ip" with these arguments here. Throws std::runtime_error with what it said when it fails.
  void ip(const std::vector<std::string>& arguments) const;
  // Gives an interface its addresses ("10.7.0.1/24", "fd00::1/64") and nothing else, and turns it on.
  void set_up(const std::string& interface, const std::vector<std::string>& addresses) const;

 private:
  pid_t pid_ = 0;
};

// Two hosts, "host-a" and "host-b", without a network between them yet.
struct TwoHosts {
  NamespaceHost a{"host-a"};
  NamespaceHost b{"host-b"};

  // A cable between an interface of a and one of b.
  void join(const std::string& interface_of_a, const std::vector<std::string>& addresses_of_a,
            const std::string& interface_of_b, const std::vector<std::string>& addresses_of_b) const;
};

}  // namespace parley::testing
