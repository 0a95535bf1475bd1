#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/base/result.h"
#include "transport/base/status.h"
#include "transport/base/unique_fd.h"

// Unix-domain sockets of the kind SOCK_SEQPACKET: they keep messages apart, hand descriptors over, tell who
// the other process is, and end when it ends.
namespace parley::transport::shm {

// A name in the abstract namespace: it belongs to the network namespace, and is gone with its socket. "NAME"
// is 32 random digits.
class LocalListener {
 public:
  static base::Result<LocalListener> open();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  // The next one that has connected, non-blocking; nothing when there is none.
  [[nodiscard]] base::UniqueFd accept() noexcept;

 private:
  LocalListener(base::UniqueFd socket, std::string name);

  base::UniqueFd socket_;
  std::string name_;
};

// Connects without waiting. `again`: more wait there than may; anything else with errno.
base::Result<base::UniqueFd> connect_locally(std::string_view name);

// The user of the process that made the other end, known as soon as it has connected. Users that our user
// namespace does not map look alike.
base::Result<uid_t> user_of(const base::UniqueFd& socket);

// Who made the other end.
struct Partner {
  uid_t user = 0;
  pid_t process = 0;           // 0: in a namespace that we do not see
  base::UniqueFd end_of_life;  // readable when the process has ended; none where the kernel has no such thing
};
base::Result<Partner> partner_of(const base::UniqueFd& socket);

// How many descriptors a message carries at most.
inline constexpr std::size_t most_handed_over = 4;
using HandedOver = std::array<base::UniqueFd, most_handed_over>;

// One message. `again`: the socket is full, or this user has too many descriptors on their way; peer_died:
// nobody is there.
base::Status send_message(const base::UniqueFd& socket, std::span<const std::byte> message,
                          std::span<const int> descriptors) noexcept;
// One message of exactly `message.size()` bytes; `descriptors` are filled from the front. `again`: none is
// here, or, with an errno, the kernel has no memory to tell: ask again, the socket stays readable; peer_died:
// the other end is closed; protocol_violation: another size, or more descriptors than fit; exhausted: the
// message is here, but not all of its descriptors, for want of numbers for them.
base::Status receive_message(const base::UniqueFd& socket, std::span<std::byte> message,
                             HandedOver& descriptors) noexcept;

}  // namespace parley::transport::shm
