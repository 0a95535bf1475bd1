// What 8 B cost from isend() and irecv() to wait_all(), without the way between two cores: both ranks of a
// link over shared memory are driven by one thread, so that no cache line changes cores and each side is
// timed by itself. Two cores that share a cache come near it.
#include <benchmark/benchmark.h>
#include <parley/parley.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/group_state.h"
#include "api/wireup/last_handle.h"
#include "api/wireup/links.h"
#include "bench/statistics.h"
#include "bench/stopwatch.h"
#include "transport/shm/shm_transport.h"

namespace {

using namespace parley;

constexpr std::size_t window = 48;  // fits into a ring, for nobody reads while it is sent

// One of two ranks in this process, linked by shared memory.
struct Rank {
  std::unique_ptr<wireup::World> world = std::make_unique<wireup::World>();
  transport::Transport* transport = nullptr;
  ProcessGroup group;

  explicit Rank(int rank) {
    world->rank = world->local_rank = rank;
    world->size = 2;
    world->timeout = std::chrono::seconds(60);
    transport::EngineOptions options{.messenger = {}, .background = false};
    options.messenger.self = static_cast<std::uint32_t>(rank);
    options.messenger.peer_count = 2;
    world->engine = std::make_unique<transport::Engine>(options);
    const transport::shm::Self self{.number = options.messenger.self};
    transport =
        &world->engine->add(std::make_unique<transport::ShmTransport>(world->engine->reactor(), self));
    wireup::link_to_self(*world);
  }
  bool is_linked_to(std::uint32_t other) {
    world->engine->poll();
    return world->engine->inspect([&](const transport::Messenger& messenger) {
      return messenger.peer(other).state == transport::PeerState::up;
    });
  }
  void share() {
    group = detail::GroupAccess::make(detail::GroupState::of_world(wireup::share(std::move(world))));
  }
};

std::array<Rank, 2> linked_ranks() {
  std::array<Rank, 2> ranks{Rank(0), Rank(1)};
  ranks[1].world->engine->locked([&](transport::Messenger&) {
    ranks[1].transport->connect(0, ranks[0].transport->address(),
                                base::Deadline::after(std::chrono::seconds(10)));
  });
  for (bool is_linked = false; !is_linked;) {
    const bool there = ranks[0].is_linked_to(1);  // both make progress
    is_linked = ranks[1].is_linked_to(0) && there;
  }
  for (Rank& rank : ranks) rank.share();
  return ranks;
}

[[gnu::noinline]] void send_window(ProcessGroup& group, std::span<Work> works, const Tensor& tensor) {
  for (Work& work : works) work = group.isend(tensor, 1);
  wait_all(works);
}

[[gnu::noinline]] void post_window(ProcessGroup& group, std::span<Work> works, const Tensor& tensor) {
  for (Work& work : works) work = group.irecv(tensor, 0);
}

[[gnu::noinline]] void finish_window(std::span<Work> works) {
  wait_all(works);
}

void windows(benchmark::State& state) {
  auto ranks = linked_ranks();
  std::array<Work, window> sends, receives;
  std::int64_t out = 1, in = 0;
  const Tensor out_tensor(std::span(&out, 1)), in_tensor(std::span(&in, 1));
  std::vector<double> send_us, post_us, finish_us;
  bench::Stopwatch watch;
  for (auto _ : state) {
    watch.lap_us();
    post_window(ranks[1].group, receives, in_tensor);
    post_us.push_back(watch.lap_us());
    send_window(ranks[0].group, sends, out_tensor);
    send_us.push_back(watch.lap_us());
    finish_window(receives);
    finish_us.push_back(watch.lap_us());
    ranks[1].group.send(out_tensor, 0);  // an answer, which brings the credit back
    ranks[0].group.recv(in_tensor, 1);
  }
  // Medians: what interrupts a window counts no more than another one.
  const auto per_message = [](const std::vector<double>& us) { return bench::median(us) * 1000 / window; };
  state.counters["isend_ns"] = per_message(send_us);
  state.counters["irecv_ns"] = per_message(post_us);
  state.counters["finish_ns"] = per_message(finish_us);
  state.counters["receiver_ns"] = per_message(post_us) + per_message(finish_us);
}

BENCHMARK(windows)->Name("message_window");

}  // namespace
