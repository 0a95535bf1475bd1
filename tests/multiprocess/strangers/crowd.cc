#include "tests/multiprocess/strangers/crowd.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

std::string make_noise() {
  std::mt19937 random(1);
  std::string text(64 * 1024, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// What does not fit is not sent: nobody reads it.
void say(const base::UniqueFd& fd, std::string_view text) {
  const ssize_t sent = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  expect(sent >= 0 || errno == EAGAIN || errno == EPIPE || errno == ECONNRESET, "a stranger's send");
}

void reset(base::UniqueFd fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace

base::UniqueFd Crowd::connect_to() const {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  expect(static_cast<bool>(fd), "a socket for a stranger");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int failed = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  expect(failed == 0, "a stranger's connection");
  return fd;
}

void Crowd::visit(std::size_t count, std::size_t patience) {
  static const std::string noise = make_noise();
  constexpr std::string_view tls_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  constexpr std::array<std::string_view, 5> words{
      "", "\x89", tls_hello, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", {}};
  for (std::size_t i = 0; i < count; ++i) {
    base::UniqueFd fd = connect_to();
    const std::size_t habit = visits_++ % 6;
    if (habit == 5) {
      reset(std::move(fd));
      continue;
    }
    say(fd, habit == 4 ? std::string_view(noise) : words[habit]);
    staying_.push_back(std::move(fd));
    while (staying_.size() > patience) staying_.pop_front();
  }
}

void Crowd::linger(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) staying_.push_back(connect_to());
}

}  // namespace parley::testing
