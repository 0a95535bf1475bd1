// What proving the job's secret costs: both state machines without I/O, and a whole connection over loopback
// from dial() to its arrival at the listener, with and without TLS.
#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>
#include <utility>

#include "transport/socket/dial.h"
#include "transport/socket/handshake.h"
#include "transport/socket/listener.h"
#include "transport/socket/random.h"

namespace {

using namespace parley;
using namespace parley::socket;

constexpr Identity identity{.purpose = Purpose::data, .from = 1, .to = 2};

Credentials credentials(bool encrypt) {
  Credentials made;
  made.secret = "a secret that is long enough not to be warned about";
  made.encrypt = encrypt;
  return made;
}

void proofs(benchmark::State& state) {
  const auto key = JobKey::make(credentials(false));
  if (!key.ok()) return state.SkipWithError(key.failure().message.c_str());
  const Nonce nonce{};
  for (auto _ : state) {
    DiallerHandshake dialler(identity, key.value(), nonce);
    ListenerHandshake listener({.purpose = Purpose::data, .self = 2}, key.value(), nonce);
    const bool refused = listener.take_hello(dialler.hello()) ||
                         dialler.take_challenge(listener.challenge()) ||
                         listener.take_proof(dialler.proof()) || dialler.take_welcome(listener.welcome());
    if (refused) return state.SkipWithError("refused");
  }
}

void connections(benchmark::State& state, bool encrypt) {
  Reactor reactor;
  std::optional<Connection> arrived;
  Listener listener(reactor, {.self = 2}, credentials(encrypt),
                    [&](Connection connection, const Identity&) { arrived = std::move(connection); });
  const DialTarget target{listener.host(), listener.port()};
  for (auto _ : state) {
    std::optional<base::Result<Connection>> dialled;
    arrived.reset();
    dial(reactor, target, identity, credentials(encrypt), base::Deadline::after(std::chrono::seconds(10)),
         [&](base::Result<Connection> result) { dialled.emplace(std::move(result)); });
    while (!dialled || (dialled->ok() && !arrived)) reactor.poll();
    if (!dialled->ok()) return state.SkipWithError(dialled->failure().message.c_str());
  }
}

BENCHMARK(proofs)->Name("handshake_proofs");
BENCHMARK_CAPTURE(connections, plain, false)->Name("handshake_connection");
BENCHMARK_CAPTURE(connections, tls, true)->Name("handshake_connection_tls");

}  // namespace
