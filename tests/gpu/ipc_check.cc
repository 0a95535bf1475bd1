#include "tests/gpu/ipc_check.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace parley::tests {
namespace {

using cuda::Code;

constexpr std::size_t bytes = std::size_t{1} << 20;
constexpr std::uint8_t content = 0x5A;
constexpr int patience_ms = 30'000;

// What the child tells.
struct Offer {
  cuda::MemoryHandle memory;
  cuda::EventHandle event;
  std::array<char, 256> failure{};  // "": none
};
static_assert(std::is_trivially_copyable_v<Offer>);

void require(cuda::Api& api, Code code, const char* call) {
  if (code != Code::ok) throw std::runtime_error(std::string(call) + ": " + api.describe(code));
}

void make(cuda::Api& api, Offer& offer) {
  const cuda::DeviceScope scope(api, 0);
  require(api, scope.code(), "entering device 0");
  std::byte* memory = nullptr;
  cuda::Event event = nullptr;
  require(api, api.allocate(bytes, memory), "allocate");
  require(api, api.create_event(cuda::Api::EventUse::between_processes, event), "create_event");
  require(api, api.fill(memory, content, bytes, cuda::default_stream), "fill");
  require(api, api.record(event, cuda::default_stream), "record");
  require(api, api.export_memory(memory, offer.memory), "export_memory");
  require(api, api.export_event(event, offer.event), "export_event");
}

// The child: its memory is there until the other one has hung up.
[[noreturn]] void offer_to(int peer, const std::function<cuda::Api*()>& open) {
  Offer offer;
  try {
    make(*open(), offer);
  } catch (const std::exception& error) {
    std::snprintf(offer.failure.data(), offer.failure.size(), "%s", error.what());
  }
  char hung_up = 0;
  if (::write(peer, &offer, sizeof offer) == sizeof offer) (void)::read(peer, &hung_up, 1);
  ::_exit(0);
}

void take(cuda::Api& api, const Offer& offer) {
  if (offer.failure[0] != '\0') throw std::runtime_error(offer.failure.data());
  const cuda::DeviceScope scope(api, 0);
  require(api, scope.code(), "entering device 0");
  std::byte* memory = nullptr;
  cuda::Event event = nullptr;
  require(api, api.import_memory(offer.memory, memory), "import_memory");
  require(api, api.import_event(offer.event, event), "import_event");
  std::vector<std::uint8_t> found(bytes);
  require(api, api.wait(cuda::default_stream, event), "wait");
  require(api, api.copy(found.data(), memory, bytes, cuda::default_stream), "copy");
  require(api, api.synchronize(cuda::default_stream), "synchronize");
  require(api, api.destroy_event(event), "destroy_event");
  require(api, api.close_memory(memory), "close_memory");
  if (!std::all_of(found.begin(), found.end(), [](std::uint8_t byte) { return byte == content; }))
    throw std::runtime_error("the copy differs from what the other process has written");
}

std::string take_from(int peer, const std::function<cuda::Api*()>& open) {
  pollfd waiting{.fd = peer, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, patience_ms) != 1) return "no: the offering process says nothing";
  Offer offer;
  if (::read(peer, &offer, sizeof offer) != sizeof offer) return "no: the offering process has died";
  try {
    take(*open(), offer);
    return "works";
  } catch (const std::exception& error) {
    return std::string("no: ") + error.what();
  }
}

}  // namespace

std::string check_ipc(const std::function<cuda::Api*()>& open) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) != 0) return "not tried: no socket pair";
  const pid_t child = ::fork();
  if (child < 0) return "not tried: fork failed";
  if (child == 0) {
    ::close(ends[0]);
    offer_to(ends[1], open);
  }
  ::close(ends[1]);
  std::string answer = take_from(ends[0], open);
  ::close(ends[0]);
  ::kill(child, SIGKILL);  // it may be stuck
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace parley::tests
