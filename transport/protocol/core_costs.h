#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/copy_meter.h"
#include "transport/protocol/copy_rate.h"
#include "transport/protocol/path.h"

namespace parley::transport {

// What copies have cost this process since the last time.
struct CopyNews {
  base::CopyWork onto_link;  // of what was sent
  base::CopyWork off_link;   // of what has come
  base::CopyWork pulled;
};

// Which path is the better one while large messages of one size go both ways. Both processes are busy all the
// time then, so that the one is better which takes less of the cores' time: a pull that of the receiver, who
// copies each byte once, the link that of both, who copy it once each. As both do the same, what our own
// copies onto the link cost tells what the peer's do. When a message has come and gone says less: that
// depends on what else its sender and its receiver had to do. Pure. Thread-safety: none.
class CoreCosts {
 public:
  static constexpr std::size_t classes = 4;  // of sizes, told apart by the caller, smaller ones first

  // That was done for messages of this class. `by_link_alone`: neither end has pulled meanwhile. Else the
  // copies of the link do not count: what it brings is cold by the time that a pull is done. True: of what
  // this path takes, something was learnt.
  bool note(std::size_t of_class, const CopyNews& news, bool by_link_alone, Path path) noexcept;

  // Until it is known that of the next smaller class, else the link.
  [[nodiscard]] Path cheaper(std::size_t of_class) const noexcept;
  // Of the cores' time. 0: not known yet.
  [[nodiscard]] float ns_per_byte(std::size_t of_class, Path path) const noexcept;

 private:
  struct Class {
    CopyRate onto_link{.cold = 0}, off_link{.cold = 0}, pulled{.cold = 0};
    std::optional<Path> cheaper;
  };

  static bool take(CopyRate& rate, const base::CopyWork& news) noexcept;

  std::array<Class, classes> classes_;
};

}  // namespace parley::transport
