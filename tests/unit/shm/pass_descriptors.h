#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/base/unique_fd.h"

namespace parley::transport::shm::testing {

inline std::pair<base::UniqueFd, base::UniqueFd> make_sockets() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

inline base::UniqueFd duplicate(int fd) {
  return base::UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

// One descriptor and one byte with it, as processes hand over their memory. Throw when that fails.
inline void pass_descriptor(const base::UniqueFd& socket, int fd) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  if (sendmsg(socket.get(), &message, MSG_NOSIGNAL) != 1) throw std::runtime_error("sendmsg failed");
}

inline base::UniqueFd take_descriptor(const base::UniqueFd& socket) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC) != 1) throw std::runtime_error("recvmsg failed");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) throw std::runtime_error("no descriptor came");
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  return base::UniqueFd(fd);
}

}  // namespace parley::transport::shm::testing
