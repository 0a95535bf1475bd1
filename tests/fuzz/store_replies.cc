// A store's client against a server that answers anything, and the address cards that it finds in the store.
#include <algorithm>
#include <string>
#include <vector>

#include "rendezvous/address_card.h"
#include "rendezvous/store_codec.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"

namespace parley::fuzz {
namespace {

using namespace rendezvous;

constexpr std::size_t most_body_bytes = 4096;

void read_replies(Input& input) {
  static constexpr Command commands[] = {Command::set,         Command::get,       Command::add,
                                         Command::compare_set, Command::check,     Command::wait,
                                         Command::remove,      Command::multi_get, Command::multi_set};
  Request request;
  request.command = input.one_of(commands);
  request.keys.assign(input.choice(4), "key");
  FrameReader reader(most_body_bytes);
  while (!input.empty()) {
    auto bytes = input.take(1 + input.byte());
    Frame frame;
    FrameReader::Step step;
    while ((step = reader.step(bytes, frame)) == FrameReader::Step::frame) {
      FUZZ_EXPECT(frame.body.size() <= most_body_bytes);
      const auto reply = decode_reply(frame, request);
      if (!reply) return;
      std::size_t total = reply->text.size() + 4 * reply->missing.size();
      for (const auto& value : reply->values) total += value.size() + 4;
      FUZZ_EXPECT(total <= frame.body.size());
    }
    if (step == FrameReader::Step::violation) return;
  }
}

void read_card(Input& input) {
  const auto bytes = input.rest();
  const auto card = decode_card(bytes);
  if (!card) return;
  const auto again = encode(*card);
  FUZZ_EXPECT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parley::fuzz::Input input(data, size);
  if (input.choice(3) == 0)
    parley::fuzz::read_card(input);
  else
    parley::fuzz::read_replies(input);
  return 0;
}
