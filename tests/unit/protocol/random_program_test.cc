// Random programs of three ranks over links that delay, refuse and split, every byte and every order checked.
#include <cstring>
#include <list>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "tests/sanitizer.h"
#include "tests/unit/protocol/pretend_mover.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::transport {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr std::size_t most_bytes = 200 * 1024;

// What a message carries: who, where, which, and bytes that follow from it.
struct Stamp {
  std::uint32_t from;
  std::uint32_t to;
  std::int64_t tag;
  std::uint64_t number;  // of this sender to this receiver with this tag
};

std::vector<std::byte> compose(const Stamp& stamp, std::size_t bytes) {
  std::vector<std::byte> data(std::max(bytes, sizeof(stamp)));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::byte>(i * 31 + stamp.number * 7 + stamp.from);
  std::memcpy(data.data(), &stamp, sizeof(stamp));
  return data;
}

class Program {
 public:
  Program(std::uint64_t seed, bool with_movers)
      : random_(seed),
        world_(ranks, faults(seed),
               {.eager_limit_bytes = 64 * 1024, .piece_bytes = 16 * 1024, .routed_bytes = 100}) {
    for (std::uint32_t rank = 0; with_movers && rank < ranks; ++rank) {
      movers_.push_back(std::make_unique<PretendMover>(board_, seed + rank));
      for (std::uint32_t peer = 0; peer < ranks; ++peer)
        world_.messengers[rank]->set_mover(peer, *movers_.back());
    }
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      switch (pick(10)) {
        case 0:
        case 1:
        case 2: send(); break;
        case 3:
        case 4: receive(); break;
        case 5: collect(); break;
        case 6: fill(pick(ranks)); break;
        case 7: pull(pick(ranks)); break;
        default: world_.progress(pick(ranks)); break;
      }
    }
    // Everything that is left is taken with receives of any kind.
    world_.settle();
    collect();
    for (int rounds = 0; received_ < sent_ && rounds < 200'000; ++rounds) {
      for (std::uint32_t at = 0; at < ranks; ++at)
        if (drains_at_[at] == 0) post(at, any_source, any_tag, true);
      for (std::uint32_t at = 0; at < ranks; ++at) {
        world_.progress(at);
        pull(at);
      }
      collect();
    }
    EXPECT_EQ(received_, sent_);
    for (const auto& mover : movers_) EXPECT_FALSE(mover->wrong());
  }
  // Tenders that were filled, and what was pulled for want of data.
  [[nodiscard]] std::size_t filled() const { return filled_; }
  [[nodiscard]] std::size_t pulled() const { return pulled_; }
  // How often a receive was seen that had asked for data which it could pull.
  [[nodiscard]] std::size_t invited() const { return invited_; }

  ~Program() {
    for (auto& receive : receives_) {
      world_.messengers[receive.at]->cancel(*receive.request, base::Code::cancelled);
      world_.messengers[receive.at]->release(*receive.request);
    }
    for (auto& send : sends_) world_.messengers[send.from]->release(*send.request);
  }

 private:
  struct Send {
    std::uint32_t from;
    Request* request;
  };
  struct Receive {
    std::uint32_t at;
    bool drains;           // posted at the end, for whatever is left
    std::uint64_t number;  // in posting order
    Request* request;
    std::vector<std::byte> buffer;
  };

  static fault::FaultPlan faults(std::uint64_t seed) {
    fault::FaultPlan plan;
    plan.seed = seed;
    plan.delay_permille = 200;
    plan.refuse_permille = 200;
    plan.split_permille = 200;
    return plan;
  }
  std::uint32_t pick(std::uint32_t below) {
    return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random_);
  }

  void fill(std::uint32_t rank) { filled_ += world_.messengers[rank]->lose_patience(); }
  void pull(std::uint32_t rank) {
    if (!movers_.empty() && movers_[rank]->step()) ++pulled_;
  }

  void send() {
    Stamp stamp{pick(ranks), pick(ranks), static_cast<std::int64_t>(pick(3)), 0};
    stamp.number = next_number_[{stamp.from, stamp.to, stamp.tag}]++;
    const std::size_t bytes = pick(pick(3) == 0 ? 64 * 1024 : pick(4) == 0 ? most_bytes : 600);
    messages_.push_back(compose(stamp, bytes));
    const Posted posted = world_.send(stamp.from, stamp.to, stamp.tag, messages_.back(), pick(5) == 0);
    ASSERT_FALSE(posted.status.failed());
    if (posted.request != nullptr) sends_.push_back({stamp.from, posted.request});
    ++sent_;
  }

  void receive() {
    post(pick(ranks), pick(3) == 0 ? any_source : pick(ranks), pick(3) == 0 ? any_tag : pick(3));
  }

  void post(std::uint32_t at, std::uint32_t from, std::int64_t tag, bool drains = false) {
    receives_.push_back({at, drains, ++posted_, nullptr, std::vector<std::byte>(most_bytes)});
    receives_.back().request = &world_.receive(at, from, tag, receives_.back().buffer);
    drains_at_[at] += drains ? 1 : 0;
  }

  // Checks what has ended, in the order in which it was posted.
  void collect() {
    for (auto receive = receives_.begin(); receive != receives_.end();) {
      if (receive->request->state != RequestState::done) {
        const Route* route = receive->request->route;
        invited_ += route != nullptr && route->path == Path::link ? 1 : 0;
        ++receive;
        continue;
      }
      check(*receive);
      drains_at_[receive->at] -= receive->drains ? 1 : 0;
      world_.messengers[receive->at]->release(*receive->request);
      receive = receives_.erase(receive);
    }
  }

  void check(const Receive& receive) {
    const Request& request = *receive.request;
    ASSERT_TRUE(request.status.ok());
    Stamp stamp{};
    std::memcpy(&stamp, receive.buffer.data(), sizeof(stamp));
    EXPECT_EQ(stamp.to, receive.at);
    EXPECT_EQ(stamp.from, request.envelope.source);
    EXPECT_EQ(stamp.tag, request.envelope.tag);
    const auto expected = compose(stamp, request.message_bytes);
    EXPECT_EQ(0, std::memcmp(expected.data(), receive.buffer.data(), expected.size()));
    auto& seen = seen_[{stamp.from, stamp.to, stamp.tag}];
    EXPECT_TRUE(seen.insert({receive.number, stamp.number}).second);
    ++received_;
    // Receives matched in posting order get messages in sending order.
    const auto place = seen.find(receive.number);
    if (place != seen.begin()) {
      EXPECT_LT(std::prev(place)->second, stamp.number);
    }
    if (std::next(place) != seen.end()) {
      EXPECT_GT(std::next(place)->second, stamp.number);
    }
  }

  using Channel = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;
  std::mt19937_64 random_;
  PretendBoard board_;
  std::vector<std::unique_ptr<PretendMover>> movers_;
  WorldOfMessengers world_;
  std::list<std::vector<std::byte>> messages_;
  std::vector<Send> sends_;
  std::list<Receive> receives_;
  std::map<Channel, std::uint64_t> next_number_;
  std::map<Channel, std::map<std::uint64_t, std::uint64_t>> seen_;  // receive -> message
  int drains_at_[ranks] = {};
  std::uint64_t posted_ = 0;
  int sent_ = 0;
  int received_ = 0;
  std::size_t filled_ = 0;
  std::size_t pulled_ = 0;
  std::size_t invited_ = 0;
};

TEST(RandomProgram, EveryMessageArrivesOnceInOrderAndWhole) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed, false);
    program.run(600);
    if (testing::Test::HasFailure()) return;
  }
}

// What the receiver pulls, what its sender has sent meanwhile, and what fails in between.
TEST(RandomProgram, SoDoesEachThatMayBePulled) {
  constexpr std::uint64_t programs = sanitizer::is_on ? 5 : 15;
  std::size_t filled = 0, pulled = 0, invited = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed, true);
    program.run(3000);  // the link is tried after a few pulls only
    filled += program.filled();
    pulled += program.pulled();
    invited += program.invited();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(filled, 6 * programs);
  EXPECT_GT(pulled, 6 * programs);
  EXPECT_GT(invited, 6 * programs);
}

}  // namespace
}  // namespace parley::transport
