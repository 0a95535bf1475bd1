#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "transport/base/unique_fd.h"

namespace parley::testing {

// Makes connections to a port of this host that have nothing to do with the job: silent ones, one byte, a TLS
// hello, HTTP, 64 KiB of noise, and a reset at once, in turn.
class Crowd {
 public:
  explicit Crowd(std::uint16_t port) : port_(port) {}

  // So many more. The last `patience` of them stay connected as long as the other side lets them.
  void visit(std::size_t count, std::size_t patience = 100);
  // So many that say nothing and stay.
  void linger(std::size_t count);

 private:
  base::UniqueFd connect_to() const;

  std::uint16_t port_;
  std::size_t visits_ = 0;
  std::deque<base::UniqueFd> staying_;
};

}  // namespace parley::testing
