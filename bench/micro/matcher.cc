// What one match costs: the library pays it once per message.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "transport/match/matcher.h"

namespace {

using parley::transport::any_source;
using parley::transport::any_tag;
using parley::transport::Arrival;
using parley::transport::Envelope;
using parley::transport::Matcher;
using parley::transport::Pattern;
using parley::transport::PostedReceive;

constexpr Envelope message{.context = 1, .source = 3, .tag = 7};
constexpr Pattern exact{.context = 1, .source = 3, .tag = 7};
constexpr Pattern from_anyone{.context = 1, .source = any_source, .tag = 7};
constexpr Pattern anything{.context = 1, .source = any_source, .tag = any_tag};

// Receives and messages of one source that wait and never match, each with a tag of its own.
class Crowd {
 public:
  Crowd(Matcher& matcher, std::int64_t receives, std::int64_t messages)
      : matcher_(matcher),
        receives_(static_cast<std::size_t>(receives)),
        messages_(static_cast<std::size_t>(messages)) {
    std::int64_t tag = 1000;
    for (PostedReceive& receive : receives_) {
      receive.pattern = {.context = 1, .source = 3, .tag = tag++};
      matcher_.post(receive);
    }
    for (Arrival& arrival : messages_) {
      arrival.envelope = {.context = 1, .source = 3, .tag = tag++};
      matcher_.keep(arrival);
    }
  }
  ~Crowd() {
    for (PostedReceive& receive : receives_) matcher_.unpost(receive);
    for (Arrival& arrival : messages_) matcher_.take(arrival);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  Matcher& matcher_;
  std::vector<PostedReceive> receives_;
  std::vector<Arrival> messages_;
};

// The receive is there first: the expected order.
void posted_first(benchmark::State& state, const Pattern& pattern) {
  Matcher matcher;
  const Crowd crowd(matcher, state.range(0), state.range(1));
  PostedReceive receive;
  receive.pattern = pattern;
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.post(receive));
    benchmark::DoNotOptimize(matcher.match_arrival(message));
  }
  state.SetItemsProcessed(state.iterations());
}

// The message is there first.
void unexpected(benchmark::State& state, const Pattern& pattern) {
  Matcher matcher;
  const Crowd crowd(matcher, state.range(0), state.range(1));
  Arrival arrival;
  arrival.envelope = message;
  PostedReceive receive;
  receive.pattern = pattern;
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.match_arrival(message));
    matcher.keep(arrival);
    benchmark::DoNotOptimize(matcher.post(receive));
  }
  state.SetItemsProcessed(state.iterations());
}

// How many receives and messages wait beside the one that is measured.
void beside_others(benchmark::internal::Benchmark* measured) {
  measured->ArgNames({"receives", "messages"});
  for (const std::int64_t count : {1, 100, 10'000, 100'000}) measured->Args({count, 0})->Args({0, count});
}
// A receive that takes anything would take one of the messages.
void beside_receives(benchmark::internal::Benchmark* measured) {
  measured->ArgNames({"receives", "messages"});
  for (const std::int64_t count : {1, 100, 10'000, 100'000}) measured->Args({count, 0});
}

BENCHMARK_CAPTURE(posted_first, exact, exact)->Apply(beside_others);
BENCHMARK_CAPTURE(posted_first, any_source, from_anyone)->Apply(beside_others);
BENCHMARK_CAPTURE(posted_first, any_source_any_tag, anything)->Apply(beside_receives);
BENCHMARK_CAPTURE(unexpected, exact, exact)->Apply(beside_others);
BENCHMARK_CAPTURE(unexpected, any_source, from_anyone)->Apply(beside_others);
BENCHMARK_CAPTURE(unexpected, any_source_any_tag, anything)->Apply(beside_receives);

}  // namespace
