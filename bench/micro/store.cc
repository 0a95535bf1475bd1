// What the store's operations cost, beside 1 to 1 000 clients that are connected: one of them alone, and all
// of them together.
#include <benchmark/benchmark.h>
#include <parley/store.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/stopwatch.h"

namespace {

using namespace parley;

const std::string secret = "a secret that is long enough not to be warned about";

// A server in this process and its clients.
class Service {
 public:
  explicit Service(std::int64_t clients) : server_(TcpStoreOptions{.secret = secret}) {
    for (std::int64_t i = 0; i < clients; ++i)
      clients_.push_back(connect_tcp_store({.port = server_.port(), .secret = secret}));
  }
  Store& client(std::size_t i) { return *clients_[i]; }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  TcpStoreServer server_;
  std::vector<std::shared_ptr<Store>> clients_;
};

// One client at work, the others connected and silent.
template <typename Operation>
void alone(benchmark::State& state, Operation operation) {
  Service service(state.range(0));
  Store& client = service.client(0);
  client.set_string("there", "value");
  for (auto _ : state) operation(client);
}

// Every client adds once to one key; a few threads serve them all, one client after the other.
void together(benchmark::State& state) {
  Service service(state.range(0));
  const std::size_t threads = std::min<std::size_t>(service.size(), 8);
  std::barrier gate(static_cast<std::ptrdiff_t>(threads) + 1);
  bool over = false;  // written before the gate, read behind it
  std::vector<std::jthread> users;
  for (std::size_t user = 0; user < threads; ++user)
    users.emplace_back([&, user] {
      for (;;) {
        gate.arrive_and_wait();
        if (over) return;
        for (std::size_t i = user; i < service.size(); i += threads) service.client(i).add("sum", 1);
        gate.arrive_and_wait();
      }
    });
  for (auto _ : state) {
    const bench::Stopwatch watch;
    gate.arrive_and_wait();
    gate.arrive_and_wait();
    state.SetIterationTime(watch.elapsed_us() / 1e6);
  }
  over = true;
  gate.arrive_and_wait();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(service.size()));
}

void with_clients(benchmark::internal::Benchmark* measured) {
  measured->ArgName("clients")->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseRealTime();
}

void set(Store& client) {
  client.set_string("key", "value");
}
void get(Store& client) {
  benchmark::DoNotOptimize(client.get("there"));
}
void add(Store& client) {
  benchmark::DoNotOptimize(client.add("number", 1));
}

BENCHMARK_CAPTURE(alone, set, set)->Name("store_set")->Apply(with_clients);
BENCHMARK_CAPTURE(alone, get, get)->Name("store_get")->Apply(with_clients);
BENCHMARK_CAPTURE(alone, add, add)->Name("store_add")->Apply(with_clients);
BENCHMARK(together)
    ->Name("store_add_by_all")
    ->ArgName("clients")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime();

}  // namespace
