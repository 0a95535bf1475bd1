// peer-gloo: starts its ranks by parley::spawn(), whose store brings them together.
#include <fmt/format.h>
#include <gloo/config.h>
#include <gloo/context.h>
#include <parley/launch.h>
#include <parley/store.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "bench/peers/gloo_collective.h"
#include "bench/peers/gloo_mesh.h"
#include "bench/peers/gloo_system.h"
#include "bench/peers/gloo_world.h"
#include "bench/peers/peer_rank.h"

namespace parley::bench {
namespace {

constexpr std::array<std::string_view, 1> transports = {"tcp"};

std::string version() {
  return fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
}

constexpr PeerProgram program{"peer-gloo", "Gloo", transports, version};

// The best way there is, and where that is not the default one, the default.
constexpr const char* best = "gloo";
constexpr const char* by_default = "gloo-default";

class GlooPeer final : public Library {
 public:
  GlooPeer(int rank, int size, const std::shared_ptr<Store>& store)
      : sleeping_(connect_gloo_mesh(rank, size, store, "asynchronous", GlooMode::asynchronous)),
        polling_(connect_gloo_mesh(rank, size, store, "busy-polling", GlooMode::busy_polling)),
        world_(sleeping_) {}

  World& world() override { return world_; }

  std::vector<Contender> pair_contenders(const Stage& stage, int partner, Buffers& buffers,
                                         const Plan& plan) override {
    const auto unbound = [&](const char* name) {
      return make_pair_contender<GlooUnboundSystem>(name, stage, buffers, *sleeping_, partner, buffers, plan);
    };
    if (operation(stage.op).traffic == Traffic::both_ways) return {unbound(best)};
    return {make_pair_contender<GlooBoundSystem>(best, stage, buffers, *polling_, partner, buffers, plan),
            unbound(by_default)};
  }

  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override {
    const std::size_t bytes = buffers.count() * sizeof(float);
    const bool polls = GlooAlgorithms::may_poll(stage.op, bytes, buffers.ranks());
    std::vector<Contender> contenders;
    if (polls) {
      contenders.push_back(
          make_collective_contender<GlooAlgorithms>(best, stage, buffers, polling_, buffers));
    }
    const char* const name = polls ? by_default : best;
    contenders.push_back(
        GlooFunctions::offers(stage.op)
            ? make_collective_contender<GlooFunctions>(name, stage, buffers, sleeping_, buffers)
            : make_collective_contender<GlooAlgorithms>(name, stage, buffers, sleeping_, buffers));
    return contenders;
  }

 private:
  std::shared_ptr<gloo::Context> sleeping_;
  std::shared_ptr<gloo::Context> polling_;
  GlooWorld world_;
};

// The store that spawn() serves.
std::shared_ptr<Store> spawned_store() {
  TcpStoreOptions options;
  options.host = std::getenv("MASTER_ADDR");
  options.port = parse_number<std::uint16_t>("MASTER_PORT", std::getenv("MASTER_PORT"), "a port", 1, 65535);
  return connect_tcp_store(options);
}

int measure(const PeerOptions& options) {
  SpawnOptions spawn_options;
  spawn_options.prefix_output = false;
  return spawn(
      options.ranks,
      [&](int rank, int ranks) {
        peer_rank(program, options, rank,
                  [&] { return std::make_unique<GlooPeer>(rank, ranks, spawned_store()); });
      },
      spawn_options);
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  using namespace parley::bench;
  return peer_main(program, argc, argv, measure);
}
