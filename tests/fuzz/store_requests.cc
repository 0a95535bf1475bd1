// A store's server against a client that sends anything: frames, requests, the table, and the replies.
#include <chrono>
#include <set>
#include <vector>

#include "rendezvous/store_codec.h"
#include "rendezvous/store_frame.h"
#include "rendezvous/store_service.h"
#include "rendezvous/store_table.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"

namespace parley::fuzz {
namespace {

using namespace rendezvous;

// Small, so that every one of them is reached.
TableLimits small_limits() {
  TableLimits limits;
  limits.key_bytes = 16;
  limits.value_bytes = 64;
  limits.operation_bytes = 256;
  limits.total_bytes = 512;
  limits.keys = 8;
  limits.waits = 4;
  limits.wait_bytes = 256;
  return limits;
}

class Server {
 public:
  ~Server() {
    const auto waits = waits_;
    for (const auto wait : waits) table_.cancel(wait);
    FUZZ_EXPECT(table_.wait_count() == 0);
  }

  // False: the client is dropped.
  bool receive(std::span<const std::byte> bytes) {
    Frame frame;
    while (true) {
      switch (reader_.step(bytes, frame)) {
        case FrameReader::Step::more: return true;
        case FrameReader::Step::violation: FUZZ_EXPECT(!reader_.problem().empty()); return false;
        case FrameReader::Step::frame:
          if (!serve(frame)) return false;
      }
    }
  }

  bool serve(const Frame& frame) {
    const auto request = decode_request(frame);
    if (!request) return false;
    FUZZ_EXPECT(well_formed(*request));
    check_encoding(frame, *request);
    const auto deadline = base::Deadline::after(request->timeout);
    int answers = 0;
    const auto wait = execute(table_, *request, deadline,
                              [this, &answers, kept = frame](StoreTable::WaitId id, Reply reply) {
                                if (id == StoreTable::no_wait) ++answers;
                                FUZZ_EXPECT(id == StoreTable::no_wait || waits_.erase(id) == 1);
                                check_reply(kept, reply);
                              });
    FUZZ_EXPECT(answers == (wait == StoreTable::no_wait ? 1 : 0));
    if (wait != StoreTable::no_wait) waits_.insert(wait);
    check_limits();
    return true;
  }

  void expire(std::chrono::nanoseconds later) {
    table_.expire(base::Clock::now() + later);
    check_limits();
  }

 private:
  void check_limits() const {
    const TableLimits& limits = table_.limits();
    FUZZ_EXPECT(table_.bytes() <= limits.total_bytes);
    FUZZ_EXPECT(table_.key_count() <= limits.keys);
    FUZZ_EXPECT(table_.wait_count() <= limits.waits && table_.wait_count() == waits_.size());
  }

  // What is understood has one encoding only, except that a negative timeout counts as none.
  static void check_encoding(const Frame& frame, const Request& request) {
    auto bytes = encode_request(frame.id, request);
    FrameReader reader(bytes.size());
    std::span<const std::byte> left(bytes);
    Frame again;
    FUZZ_EXPECT(reader.step(left, again) == FrameReader::Step::frame && left.empty());
    FUZZ_EXPECT(again.kind == frame.kind && again.id == frame.id);
    FUZZ_EXPECT(again.body.size() == frame.body.size());
    FUZZ_EXPECT(std::equal(again.body.begin() + 8, again.body.end(), frame.body.begin() + 8));
  }

  // Every reply that is made can be read by the client that asked.
  static void check_reply(const Frame& asked, const Reply& reply) {
    const auto request = decode_request(asked);
    const auto bytes = encode_reply(asked.id, reply);
    FUZZ_EXPECT(bytes.size() <= small_limits().operation_bytes + body_overhead_bytes + frame_header_bytes);
    FrameReader reader(bytes.size());
    std::span<const std::byte> left(bytes);
    Frame frame;
    FUZZ_EXPECT(reader.step(left, frame) == FrameReader::Step::frame && left.empty());
    const auto back = decode_reply(frame, *request);
    FUZZ_EXPECT(back && back->status == reply.status && back->number == reply.number);
    FUZZ_EXPECT(back->values == reply.values && back->missing == reply.missing && back->text == reply.text);
  }

  StoreTable table_{small_limits()};
  FrameReader reader_{small_limits().operation_bytes + body_overhead_bytes};
  std::set<StoreTable::WaitId> waits_;
};

// A request with likely fields.
Frame likely_request(Input& input) {
  static constexpr std::string_view names[] = {"a", "b", "c", "rank/0", "a key of 16 bytes", ""};
  base::WireWriter writer;
  writer.put(static_cast<std::int64_t>(input.choice(3)) * 1'000'000'000);
  writer.put(input.choice(4) == 0 ? std::int64_t{1} << 62 : static_cast<std::int64_t>(input.choice(3)));
  const std::size_t keys = input.choice(5);
  writer.put(static_cast<std::uint32_t>(keys));
  for (std::size_t i = 0; i < keys; ++i) writer.put_string(input.one_of(names));
  const std::size_t values = input.choice(4);
  writer.put(static_cast<std::uint32_t>(values));
  for (std::size_t i = 0; i < values; ++i) writer.put_bytes(input.take(input.choice(80)));
  return {.kind = static_cast<std::uint8_t>(input.choice(11)), .id = 1, .body = std::move(writer).bytes()};
}

void run(Input& input) {
  Server server;
  while (!input.empty()) {
    switch (input.choice(4)) {
      case 0:
        if (!server.receive(input.take(input.byte()))) return;
        break;
      case 1: server.expire(std::chrono::seconds(input.choice(4))); break;
      default: static_cast<void>(server.serve(likely_request(input)));
    }
  }
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parley::fuzz::Input input(data, size);
  parley::fuzz::run(input);
  return 0;
}
