#include "tests/gpu/ipc_check.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
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
  std::array<char, 256> failure{};  // "": none
};
static_assert(std::is_trivially_copyable_v<Offer>);

// A page that both have, whose first word the child's stream writes.
class SharedPage {
 public:
  static constexpr std::size_t page_bytes = 4096;
  SharedPage()
      : memory_(::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedPage() {
    if (is_there()) ::munmap(memory_, page_bytes);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  [[nodiscard]] bool is_there() const noexcept { return memory_ != MAP_FAILED; }
  [[nodiscard]] void* memory() const noexcept { return memory_; }
  [[nodiscard]] std::atomic<std::uint32_t>& word() const noexcept {
    return *static_cast<std::atomic<std::uint32_t>*>(memory_);
  }

 private:
  void* memory_;
};

void require(cuda::Api& api, Code code, const char* call) {
  if (code != Code::ok) throw std::runtime_error(std::string(call) + ": " + api.describe(code));
}

void make(cuda::Api& api, const SharedPage& page, Offer& offer) {
  const cuda::DeviceScope scope(api, 0);
  require(api, scope.code(), "entering device 0");
  std::byte* memory = nullptr;
  require(api, api.allocate(bytes, memory), "allocate");
  require(api, api.register_host(page.memory(), SharedPage::page_bytes), "register_host");
  require(api, api.fill(memory, content, bytes, cuda::default_stream), "fill");
  require(api, api.write_word(cuda::default_stream, page.word(), 1), "write_word");
  require(api, api.export_memory(memory, offer.memory), "export_memory");
}

// The child: its memory is there until the other one has hung up.
[[noreturn]] void offer_to(int peer, const SharedPage& page, const std::function<cuda::Api*()>& open) {
  Offer offer;
  try {
    make(*open(), page, offer);
  } catch (const std::exception& error) {
    std::snprintf(offer.failure.data(), offer.failure.size(), "%s", error.what());
  }
  char hung_up = 0;
  if (::write(peer, &offer, sizeof offer) == sizeof offer) (void)::read(peer, &hung_up, 1);
  ::_exit(0);
}

void take(cuda::Api& api, const SharedPage& page, const Offer& offer) {
  if (offer.failure[0] != '\0') throw std::runtime_error(offer.failure.data());
  const cuda::DeviceScope scope(api, 0);
  require(api, scope.code(), "entering device 0");
  std::byte* memory = nullptr;
  require(api, api.import_memory(offer.memory, memory), "import_memory");
  require(api, api.register_host(page.memory(), SharedPage::page_bytes), "register_host");
  std::vector<std::uint8_t> found(bytes);
  require(api, api.wait_word(cuda::default_stream, page.word(), 1), "wait_word");
  require(api, api.copy(found.data(), memory, bytes, cuda::default_stream), "copy");
  require(api, api.synchronize(cuda::default_stream), "synchronize");
  require(api, api.unregister_host(page.memory()), "unregister_host");
  require(api, api.close_memory(memory), "close_memory");
  if (!std::all_of(found.begin(), found.end(), [](std::uint8_t byte) { return byte == content; }))
    throw std::runtime_error("the copy differs from what the other process has written");
}

std::string take_from(int peer, const SharedPage& page, const std::function<cuda::Api*()>& open) {
  pollfd waiting{.fd = peer, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, patience_ms) != 1) return "no: the offering process says nothing";
  Offer offer;
  if (::read(peer, &offer, sizeof offer) != sizeof offer) return "no: the offering process has died";
  try {
    take(*open(), page, offer);
    return "works";
  } catch (const std::exception& error) {
    return std::string("no: ") + error.what();
  }
}

}  // namespace

std::string check_ipc(const std::function<cuda::Api*()>& open) {
  const SharedPage page;
  if (!page.is_there()) return "not tried: no shared memory";
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) != 0) return "not tried: no socket pair";
  const pid_t child = ::fork();
  if (child < 0) return "not tried: fork failed";
  if (child == 0) {
    ::close(ends[0]);
    offer_to(ends[1], page, open);
  }
  ::close(ends[1]);
  std::string answer = take_from(ends[0], page, open);
  ::close(ends[0]);
  ::kill(child, SIGKILL);  // it may be stuck
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace parley::tests
