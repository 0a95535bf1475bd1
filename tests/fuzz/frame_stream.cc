// A peer that has proved itself and then sends anything: FrameReceiver on a socket with a Messenger behind
// it, while this side sends, receives, probes, cancels and aborts.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/local_side.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/connection.h"
#include "transport/tcp/frame_receiver.h"

namespace parley::fuzz {
namespace {

using base::Code;
using transport::PacketHeader;
using transport::PacketKind;

// One pair of sockets serves all runs; each leaves it empty.
class Wire {
 public:
  Wire() {
    int fds[2];
    FUZZ_EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    near_ = socket::Connection(base::UniqueFd(fds[0]));
    far_ = base::UniqueFd(fds[1]);
  }
  [[nodiscard]] socket::Connection& near() noexcept { return near_; }
  void write(std::span<const std::byte> bytes) {
    const ssize_t written = ::send(far_.get(), bytes.data(), bytes.size(), 0);
    FUZZ_EXPECT(written == static_cast<ssize_t>(bytes.size()));
  }
  void drain() {
    static std::array<std::byte, 64 * 1024> nowhere;
    while (near_.receive(nowhere.data(), nowhere.size()) > 0) {
    }
  }

 private:
  socket::Connection near_;
  base::UniqueFd far_;
};

class Stream {
 public:
  explicit Stream(Wire& wire) : wire_(wire), receiver_(wire.near()), side_(receiver_) {}
  ~Stream() { wire_.drain(); }

  void run(Input& input) {
    while (!input.empty() && side_.linked()) {
      switch (input.choice(4)) {
        case 0: arrive(input.take(input.byte())); break;
        case 1:
        case 2: arrive_packet(input); break;
        default: side_.act(input); break;
      }
    }
    side_.finish();
  }

 private:
  void arrive(std::span<const std::byte> bytes) {
    if (bytes.empty() || !side_.linked()) return;
    wire_.write(bytes);
    std::size_t events = 0;
    base::Status status;
    do {
      status = receiver_.receive(side_.link(), side_.sink(), events);
    } while (status.ok());
    FUZZ_EXPECT(events <= 2 * bytes.size() + 2);
    if (status.code() != Code::again) side_.end(status);
  }

  // A header with likely fields and as much payload as it announces, or as much as somebody wants to send of
  // it.
  void arrive_packet(Input& input) {
    static constexpr std::uint32_t sizes[] = {0, 0, 0, 1, 32, 100, 4'096, 4'097, 9'000, 70'000, 200'000};
    static std::array<std::byte, 16 * 1024> filler;
    PacketHeader header;
    header.kind = static_cast<PacketKind>(input.choice(24));  // 1 to 22, padding, and one that there is not
    header.type_code = static_cast<std::uint8_t>(input.choice(3));
    if (input.choice(2) == 1) header.credits = input.byte();
    header.context = static_cast<std::uint32_t>(input.choice(8));  // of the world, of groups
    header.tag = side_.likely_tag(input);
    header.payload_bytes = input.one_of(sizes);
    header.id = side_.likely_id(input);
    header.message_bytes = side_.likely_size(input, header.payload_bytes);
    arrive(std::as_bytes(std::span(&header, 1)));
    for (std::size_t left = header.payload_bytes; left != 0 && side_.linked();) {
      const std::size_t piece = std::min(left, filler.size());
      arrive(std::span(filler).first(piece));
      left -= piece;
      if (left != 0 && input.choice(8) == 7) side_.act(input);
    }
  }

  Wire& wire_;
  transport::FrameReceiver receiver_;
  LocalSide side_;
};

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static parley::fuzz::Wire wire;
  parley::fuzz::Input input(data, size);
  parley::fuzz::Stream(wire).run(input);
  return 0;
}
