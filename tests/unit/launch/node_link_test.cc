// Launchers of several nodes, as objects of one process, over a real store.

#include "api/launch/node_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/store.h>
#include <poll.h>

#include <barrier>
#include <memory>
#include <string>
#include <thread>

namespace parley::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Nodes : public ::testing::Test {
 protected:
  Nodes() { server_ = std::make_unique<TcpStoreServer>(options()); }

  static TcpStoreOptions options() {
    TcpStoreOptions options;
    options.secret = "a secret of this test alone";
    return options;
  }

  std::unique_ptr<NodeLink> start(int number, int ranks, int count = 2,
                                  std::chrono::nanoseconds patience = 60s) {
    return std::make_unique<NodeLink>(
        NodePlace{count, number, "127.0.0.1", server_->port(), options().secret, patience}, ranks);
  }

  // Waits by the descriptor alone: who polls it misses nothing.
  template <typename Condition>
  static bool await(NodeLink& link, const Condition& condition) {
    const auto deadline = base::Deadline::after(60s);
    while (!condition()) {
      pollfd entry{link.fd(), POLLIN, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.remaining());
      if (poll(&entry, 1, static_cast<int>(left.count())) == 0) return false;
      link.take_news();
    }
    return true;
  }
  static NodeLayout layout_of(NodeLink& link) {
    EXPECT_TRUE(await(link, [&] { return link.layout().has_value(); })) << link.failure();
    return link.layout().value_or(NodeLayout{-1, -1});
  }
  static NodeOutcome outcome_at(NodeLink& link) {
    EXPECT_TRUE(await(link, [&] { return link.outcome().has_value(); })) << link.failure();
    return link.outcome().value_or(NodeOutcome{});
  }
  static std::string failure_of(NodeLink& link) {
    EXPECT_TRUE(await(link, [&] { return !link.failure().empty(); }));
    return link.failure();
  }

  void await_card_of(int node) {
    auto client = options();
    client.port = server_->port();
    const std::string key = "parley-run/card/" + std::to_string(node);
    connect_tcp_store(client)->wait({&key, 1}, 60s);
  }

  std::unique_ptr<TcpStoreServer> server_;
};

TEST_F(Nodes, NumberTheirRanksNodeByNode) {
  const auto c = start(2, 1, 3), a = start(0, 2, 3), b = start(1, 3, 3);
  EXPECT_EQ(layout_of(*a).first_rank, 0);
  EXPECT_EQ(layout_of(*b).first_rank, 2);
  EXPECT_EQ(layout_of(*c).first_rank, 5);
  for (NodeLink* link : {a.get(), b.get(), c.get()}) {
    EXPECT_EQ(layout_of(*link).world_size, 6);
    EXPECT_FALSE(link->outcome());
    EXPECT_EQ(link->failure(), "");
  }
}

TEST_F(Nodes, TheLastToBeDoneEndsTheJob) {
  const auto a = start(0, 1), b = start(1, 1);
  layout_of(*a);
  layout_of(*b);
  b->report_done();
  EXPECT_FALSE(b->outcome());
  a->report_done();
  EXPECT_EQ(outcome_at(*a).kind, NodeOutcome::Kind::all_done);
  EXPECT_EQ(outcome_at(*b).kind, NodeOutcome::Kind::all_done);
}

TEST_F(Nodes, TheFirstProposalStandsForAll) {
  const auto a = start(0, 1), b = start(1, 1);
  layout_of(*a);
  layout_of(*b);
  const NodeOutcome first{.kind = NodeOutcome::Kind::failed, .node = 1, .where = "b", .exit_code = 7};
  const NodeOutcome second{.kind = NodeOutcome::Kind::failed, .node = 0, .where = "a", .exit_code = 9};
  EXPECT_EQ(b->propose(first), first);
  EXPECT_EQ(a->propose(second), first);
  EXPECT_EQ(outcome_at(*a), first);
  EXPECT_EQ(outcome_at(*b), first);
  a->report_done();  // comes too late and changes nothing
  EXPECT_EQ(a->outcome(), first);
}

TEST_F(Nodes, OfProposalsAtTheSameMomentOneStands) {
  for (int round = 0; round < 30; ++round) {
    server_ = std::make_unique<TcpStoreServer>(options());
    const auto a = start(0, 1), b = start(1, 1);
    layout_of(*a);
    layout_of(*b);
    const NodeOutcome of_a{.kind = NodeOutcome::Kind::failed, .node = 0, .where = "a", .exit_code = 9};
    const NodeOutcome of_b{.kind = NodeOutcome::Kind::failed, .node = 1, .where = "b", .exit_code = 7};
    std::barrier together(2);
    NodeOutcome seen_by_b;
    std::thread other([&] {
      together.arrive_and_wait();
      seen_by_b = b->propose(of_b);
    });
    together.arrive_and_wait();
    const NodeOutcome seen_by_a = a->propose(of_a);
    other.join();
    EXPECT_EQ(seen_by_a, seen_by_b);
    EXPECT_TRUE(seen_by_a == of_a || seen_by_a == of_b);
  }
}

TEST_F(Nodes, OneThatStillWaitsHearsOfAnEnd) {
  const auto a = start(0, 1, 3), b = start(1, 1, 3);  // node 2 never comes
  const NodeOutcome interrupt{.kind = NodeOutcome::Kind::interrupted, .node = 1, .where = "b"};
  await_card_of(1);  // a node that has not joined yet can tell nobody
  EXPECT_EQ(b->propose(interrupt), interrupt);
  EXPECT_EQ(outcome_at(*a), interrupt);
  EXPECT_FALSE(a->layout());
}

TEST_F(Nodes, TwoWithOneNumberAreToldApart) {
  const auto a = start(0, 1, 3);
  const auto first = start(1, 1, 3);
  await_card_of(1);
  const auto twin = start(1, 2, 3);
  EXPECT_THAT(failure_of(*twin), HasSubstr("two launchers with --node-rank 1: this one and node 1 ("));
  EXPECT_EQ(first->failure(), "");
}

TEST_F(Nodes, DifferentNumbersOfNodesAreNamed) {
  const auto a = start(0, 1, 3), b = start(1, 1, 2);
  EXPECT_THAT(failure_of(*b), HasSubstr("was started with --nnodes 3, this node with 2"));
}

TEST_F(Nodes, WhoNeverComesIsNamed) {
  const auto a = start(0, 1, 4, 500ms), c = start(2, 1, 4);
  const std::string text = failure_of(*a);
  EXPECT_THAT(text, HasSubstr("waited in vain for the parley-run of node "));
  EXPECT_THAT(text, HasSubstr("1, "));
  EXPECT_THAT(text, HasSubstr("3 of 4"));
}

TEST_F(Nodes, ARendezvousThatOnlyNode0ReachesIsExplained) {
  // A number of a form that only the resolver reads, so that it counts as a name.
  NodeLink link({2, 0, "0x7f000001", server_->port(), options().secret, 300ms}, 1);
  EXPECT_THAT(failure_of(link), HasSubstr("only when --rendezvous is another address of this host"));
}

TEST_F(Nodes, WithoutNode0ThereIsAnErrorWithTheAddress) {
  const std::uint16_t port = server_->port();
  server_.reset();
  NodeLink link({2, 1, "127.0.0.1", port, options().secret, 300ms}, 1);
  EXPECT_THAT(failure_of(link), HasSubstr("waited in vain for node 0"));
  EXPECT_THAT(link.failure(), HasSubstr("127.0.0.1:" + std::to_string(port)));
}

TEST_F(Nodes, AnotherSecretIsRefusedAtOnce) {
  NodeLink link({2, 1, "127.0.0.1", server_->port(), "quite another secret", 60s}, 1);
  EXPECT_THAT(failure_of(link), HasSubstr("secret"));
}

TEST_F(Nodes, TheLossOfNode0EndsTheJob) {
  const auto a = start(0, 1), b = start(1, 1);
  layout_of(*b);
  server_.reset();
  const NodeOutcome outcome = outcome_at(*b);
  EXPECT_EQ(outcome.kind, NodeOutcome::Kind::failed);
  EXPECT_EQ(outcome.node, 0);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.sentence, HasSubstr("its launcher is gone"));
  const NodeOutcome own{.kind = NodeOutcome::Kind::failed, .node = 1, .exit_code = 5};
  EXPECT_EQ(b->propose(own), outcome);
}

TEST_F(Nodes, ASilentNodeIsGivenUp) {
  const auto a = start(0, 1);
  auto b = start(1, 1);
  layout_of(*a);
  layout_of(*b);
  b.reset();  // as if it had been killed
  const NodeOutcome outcome = outcome_at(*a);
  EXPECT_EQ(outcome.node, 1);
  EXPECT_THAT(outcome.where, HasSubstr("node 1 ("));
  EXPECT_THAT(outcome.sentence, HasSubstr("no sign of it for 10 s"));
}

}  // namespace
}  // namespace parley::launch
