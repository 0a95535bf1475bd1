// What it costs to cut a TCP stream into packets, and a store's stream into frames.
#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "bench/stopwatch.h"
#include "rendezvous/store_frame.h"
#include "transport/base/unique_fd.h"
#include "transport/interface/endpoint.h"
#include "transport/tcp/frame_receiver.h"
#include "transport/tcp/frame_sender.h"

namespace {

using namespace parley;

// Counts packets, and has large payloads land in one place.
class Counter final : public transport::PacketSink {
 public:
  explicit Counter(std::size_t payload_bytes) : memory_(payload_bytes) {}

  void on_link(transport::PeerId, transport::Endpoint&) noexcept override {}
  void on_unreachable(transport::PeerId, base::Status, std::string_view) noexcept override {}
  void on_packet(transport::Endpoint&, const transport::PacketHeader&,
                 std::span<const std::byte> payload) noexcept override {
    if (!payload.empty()) std::memcpy(memory_.data(), payload.data(), payload.size());
    ++packets;
  }
  base::MemoryRef on_header(transport::Endpoint&, const transport::PacketHeader&) noexcept override {
    return {memory_.data(), memory_.size()};
  }
  void on_landed(transport::Endpoint&, const transport::PacketHeader&) noexcept override { ++packets; }
  void on_writable(transport::Endpoint&) noexcept override {}
  void on_closed(transport::Endpoint&, base::Status) noexcept override {}

  int packets = 0;

 private:
  std::vector<std::byte> memory_;
};

// Packets have to come from somewhere; this one only lends its name.
class Source final : public transport::Endpoint {
  base::Status try_send(const transport::PacketHeader&, const base::ConstMemoryRef&, transport::Completion*,
                        Urgency) noexcept override {
    return base::Code::closed;
  }
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return 0; }
  [[nodiscard]] bool drained() const noexcept override { return true; }
  void close() noexcept override {}
};

struct Connections {
  socket::Connection out, in;
};

Connections socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()) != 0) return {};
  return {socket::Connection(base::UniqueFd(fds[0])), socket::Connection(base::UniqueFd(fds[1]))};
}

// A batch of packets, as large as what one read can take, is written; then its reading alone is timed: one
// system call and the parsing. `argument`: the payload in bytes.
void tcp_packets(benchmark::State& state) {
  const auto payload_bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> payload(payload_bytes, std::byte{1});
  const int batch = static_cast<int>(transport::FrameSender::flush_bytes /
                                     (sizeof(transport::PacketHeader) + payload_bytes));
  Connections connections = socket_pair();
  if (!connections.in) return state.SkipWithError("no socket pair");
  transport::FrameSender sender(connections.out);
  transport::FrameReceiver receiver(connections.in);
  Counter sink(payload_bytes);
  Source source;
  transport::PacketHeader header{.kind = transport::PacketKind::eager};
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);

  for (auto _ : state) {
    bool is_written = true;
    for (int i = 0; i < batch; ++i)
      is_written &= sender.post(header, {payload.data(), payload.size()}, nullptr, false).ok();
    if (!is_written || !sender.write_out().ok()) return state.SkipWithError("the packets do not leave");
    sink.packets = 0;
    const bench::Stopwatch watch;
    for (std::size_t events = 0; sink.packets < batch;)
      if (receiver.receive(source, sink, events).scope() == base::Scope::peer)
        return state.SkipWithError("the stream is broken");
    state.SetIterationTime(watch.elapsed_us() / 1e6);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

// One frame of the store's protocol, from memory. `argument`: its body in bytes.
void store_frame(benchmark::State& state) {
  const std::vector<std::byte> body(static_cast<std::size_t>(state.range(0)), std::byte{1});
  base::WireWriter writer = rendezvous::begin_frame(1, 1);
  writer.put_bytes(body);
  const base::Bytes stream = rendezvous::finish_frame(std::move(writer));
  rendezvous::FrameReader reader(stream.size());
  rendezvous::Frame frame;
  for (auto _ : state) {
    std::span<const std::byte> input(stream);
    if (reader.step(input, frame) != rendezvous::FrameReader::Step::frame)
      return state.SkipWithError("this is no frame");
    benchmark::DoNotOptimize(frame);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(tcp_packets)->Arg(0)->Arg(8)->Arg(1024)->Arg(4096)->UseManualTime();
BENCHMARK(store_frame)->Arg(16)->Arg(1024)->Arg(64 * 1024);

}  // namespace
