// A list of objects from anybody, as its receiver takes it: the list first, then each text as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "api/text_list.h"
#include "tests/fuzz/expect.h"

namespace parley::fuzz {
namespace {

using nlohmann::json;

constexpr int max_depth = 64;

int depth_of(const json& object) {
  int deepest = 0;
  if (object.is_structured())
    for (const json& part : object) deepest = std::max(deepest, depth_of(part));
  return deepest + (object.is_structured() ? 1 : 0);
}

void take(const std::string& text) {
  const int counted = detail::nesting_of(text);
  if (counted > max_depth) return;
  try {
    const json object = json::parse(text);
    FUZZ_EXPECT(depth_of(object) <= counted);
    FUZZ_EXPECT(json::parse(object.dump()).dump() == object.dump());
  } catch (const json::exception&) {
  }
}

void attack(std::span<const std::byte> message) {
  const auto list = detail::decode_texts(message);
  if (!list.ok()) {
    FUZZ_EXPECT(!list.failure().message.empty());
    return;
  }
  FUZZ_EXPECT(std::ranges::equal(detail::encode_texts(list.value()), message));
  for (const std::string& text : list.value()) take(text);
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parley::fuzz::attack(std::as_bytes(std::span(data, size)));
  return 0;
}
