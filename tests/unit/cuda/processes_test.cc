// Memory and words of the simulated device between two processes.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/multiprocess/support/shared_page.h"
#include "tests/unit/cuda/device.h"
#include "tests/unit/shm/child.h"
#include "transport/base/unique_fd.h"

namespace parley::cuda::testing {
namespace {

using transport::shm::testing::Child;
using transport::shm::testing::expect;

// Two ends through which records go; either waits for the other's.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  template <typename Record>
  void send(const Record& record) const {
    if (write(fd_.get(), &record, sizeof record) != sizeof record) throw std::runtime_error("write");
  }
  template <typename Record>
  Record receive() const {
    Record record;
    if (read(fd_.get(), &record, sizeof record) != sizeof record)
      throw std::runtime_error("the peer has gone");
    return record;
  }

 private:
  base::UniqueFd fd_;
};

// Another process with a device of its own, made before this one's: a process with threads must not fork.
class Peer {
 public:
  explicit Peer(const std::function<void(EnteredDevice&, const Wire&)>& life) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw std::runtime_error("pair");
    child_.emplace([&]() -> std::string {
      close(ends[0]);
      const Wire wire(ends[1]);
      EnteredDevice at;
      life(at, wire);
      return {};
    });
    close(ends[1]);
    wire_.emplace(ends[0]);
  }
  [[nodiscard]] const Wire& wire() const { return *wire_; }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  std::string finish() { return child_->finish(); }

 private:
  std::optional<Child> child_;
  std::optional<Wire> wire_;
};

// Words that both processes see: zero at first.
struct Words {
  std::array<std::atomic<std::uint32_t>, 1024> words{};
};

TEST(SimulatedProcesses, ShareMemoryInTheOrderOfAWord) {
  const parley::testing::SharedPage<Words> page;
  std::atomic<std::uint32_t>& ready = page->words[3];
  Peer reader([&](EnteredDevice& at, const Wire& wire) {
    const auto memory = wire.receive<MemoryHandle>();
    std::byte* base = nullptr;
    std::byte* twice = nullptr;
    expect(at.device.register_host(&*page, sizeof(Words)) == Code::ok, "register");
    expect(at.device.import_memory(memory, base) == Code::ok, "import");
    expect(at.device.import_memory(memory, twice) == Code::already_mapped, "imported twice");
    std::byte* host = at.pinned(4);
    expect(at.device.wait_word(default_stream, ready, 1) == Code::ok, "wait");
    expect(at.device.copy(host, base + 2, 4, default_stream) == Code::ok, "copy");
    expect(at.device.pending(default_stream) == 2, "ready too early");
    wire.send('w');  // waiting
    expect(at.device.synchronize(default_stream) == Code::ok, "synchronize");
    expect(std::memcmp(host, "data", 4) == 0, "other data");
    PointerFacts facts;
    expect(at.device.facts_of(base, facts) == Code::ok && facts.device == 0 && facts.bytes == 100, "facts");
    expect(!facts.can_be_exported && facts.base == base, "facts of an import");
    expect(at.device.open_imports() == 1 && at.device.live_allocations() == 1, "counts");
    expect(at.device.fill(base, '!', 1, default_stream) == Code::ok, "fill");
    expect(at.device.synchronize(default_stream) == Code::ok, "synchronize");
    expect(at.device.close_memory(base) == Code::ok && at.device.open_imports() == 0, "close");
    expect(at.device.import_memory(memory, base) == Code::ok, "import again");
  });
  EnteredDevice at;
  std::byte* memory = at.memory(100);
  EXPECT_EQ(at.device.register_host(&*page, sizeof(Words)), Code::ok);
  at.device.hold(default_stream);
  EXPECT_EQ(at.device.fill(memory, ' ', 100, default_stream), Code::ok);
  std::byte* text = at.pinned(4);
  std::memcpy(text, "data", 4);
  EXPECT_EQ(at.device.copy(memory + 2, text, 4, default_stream), Code::ok);
  EXPECT_EQ(at.device.write_word(default_stream, ready, 1), Code::ok);
  MemoryHandle handle;
  EXPECT_EQ(at.device.export_memory(memory, handle), Code::ok);
  reader.wire().send(handle);
  EXPECT_EQ(reader.wire().receive<char>(), 'w');
  at.device.let_go(default_stream);
  EXPECT_EQ(reader.finish(), "");
  EXPECT_EQ(at.text(memory, 1), "!") << "it is the same memory";
}

TEST(SimulatedProcesses, RefuseWhatIsNoHandle) {
  EnteredDevice at;
  std::byte* memory = at.memory(10);
  std::byte* base = nullptr;
  MemoryHandle handle;
  EXPECT_EQ(at.device.import_memory(handle, base), Code::invalid_value);
  EXPECT_EQ(at.device.export_memory(memory, handle), Code::ok);
  EXPECT_EQ(at.device.import_memory(handle, base), Code::invalid_context) << "one's own";
  handle.bytes[3] ^= std::byte{1};
  EXPECT_EQ(at.device.import_memory(handle, base), Code::invalid_value);
}

TEST(SimulatedProcesses, DoNotFindFreedMemory) {
  Peer owner([](EnteredDevice& at, const Wire& wire) {
    std::byte* memory = at.memory(10);
    MemoryHandle handle;
    expect(at.device.export_memory(memory, handle) == Code::ok, "export");
    expect(at.device.free(memory) == Code::ok, "free");
    expect(at.memory(10) == memory, "another at the same address, and perhaps descriptor");
    wire.send(handle);
    wire.receive<char>();
  });
  EnteredDevice at;
  std::byte* base = nullptr;
  EXPECT_EQ(at.device.import_memory(owner.wire().receive<MemoryHandle>(), base), Code::map_failed);
  owner.wire().send('e');
  EXPECT_EQ(owner.finish(), "");
}

TEST(SimulatedProcesses, MayDieWhileOthersHaveTheirMemory) {
  Peer owner([](EnteredDevice& at, const Wire& wire) {
    for (const std::uint8_t letter : {'a', 'b'}) {
      std::byte* memory = at.memory(1);
      MemoryHandle handle;
      expect(at.device.fill(memory, letter, 1, default_stream) == Code::ok, "fill");
      expect(at.device.synchronize(default_stream) == Code::ok, "synchronize");
      expect(at.device.export_memory(memory, handle) == Code::ok, "export");
      wire.send(handle);
    }
    wire.receive<char>();
  });
  EnteredDevice at;
  const auto first = owner.wire().receive<MemoryHandle>();
  const auto second = owner.wire().receive<MemoryHandle>();
  std::byte* base = nullptr;
  EXPECT_EQ(at.device.import_memory(first, base), Code::ok);
  kill(owner.pid(), SIGKILL);
  EXPECT_NE(owner.finish(), "");
  EXPECT_EQ(at.text(base, 1), "a");
  EXPECT_EQ(at.device.import_memory(second, base), Code::map_failed);
}

}  // namespace
}  // namespace parley::cuda::testing
