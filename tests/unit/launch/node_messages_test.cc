#include "api/launch/node_messages.h"

#include <gtest/gtest.h>

#include <csignal>

#include "api/launch/node_end.h"
#include "api/launch/node_place.h"
#include "api/launch/report.h"

namespace parley::launch {
namespace {

NodeOutcome failure_of_node_1() {
  return {.kind = NodeOutcome::Kind::failed,
          .node = 1,
          .where = "node 1 (b, pid 9)",
          .sentence = "rank 5 failed first: ./solve (pid 12) exited with code 3 after 1.25 s",
          .exit_code = 3};
}

TEST(NodeMessages, ComeBackAsTheyWent) {
  const NodeCard card{.nodes = 3, .ranks = 4, .host = "host-a", .pid = 4711};
  const auto read = decode_node_card(encode(card));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->nodes, 3);
  EXPECT_EQ(read->ranks, 4);
  EXPECT_EQ(read->name(2), "node 2 (host-a, pid 4711)");
  EXPECT_EQ(decode_node_outcome(encode(failure_of_node_1())), failure_of_node_1());
}

TEST(NodeMessages, WhatIsCutOrTooLongIsRefused) {
  const auto card = encode(NodeCard{.nodes = 1, .ranks = 1, .host = "h", .pid = 1});
  const auto outcome = encode(failure_of_node_1());
  for (std::size_t size = 0; size < card.size(); ++size)
    EXPECT_FALSE(decode_node_card(std::span(card).first(size))) << size;
  for (std::size_t size = 0; size < outcome.size(); ++size)
    EXPECT_FALSE(decode_node_outcome(std::span(outcome).first(size))) << size;
  auto longer = card;
  longer.push_back({});
  EXPECT_FALSE(decode_node_card(longer));
  EXPECT_FALSE(decode_node_card(encode(NodeCard{.nodes = 1, .ranks = 0, .host = "h"})));
  EXPECT_FALSE(decode_node_outcome(encode(NodeOutcome{.kind = static_cast<NodeOutcome::Kind>(9)})));
}

TEST(Rendezvous, IsAHostAndAPort) {
  const auto expect = [](const char* text, const char* host, std::uint16_t port) {
    const auto read = parse_rendezvous(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->host, host);
    EXPECT_EQ(read->port, port);
  };
  expect("node-a:29500", "node-a", 29500);
  expect("10.0.0.1:1", "10.0.0.1", 1);
  expect("[fd00::1]:65535", "fd00::1", 65535);
  expect("[fe80::1%eth0]:29500", "fe80::1%eth0", 29500);
  for (const char* text : {"", "node-a", ":1", "node-a:", "node-a:0", "node-a:65536", "node-a:x", "node-a:1x",
                           "fd00::1:29500", "[]:1", "[fd00::1]"})
    EXPECT_FALSE(parse_rendezvous(text)) << text;
}

JobEnd end_of_node_1() {
  JobEnd end;
  end.cause = Cause::rank_failed;
  end.culprit = 1;
  end.first_rank = 4;
  end.where = "node 1 (b, pid 9)";
  end.elapsed = std::chrono::milliseconds(1250);
  end.ranks = {{11, {0, SIGTERM}, SIGTERM}, {12, {3, 0}, 0}, {13, {0, SIGTERM}, SIGTERM}};
  return end;
}

TEST(NodeEnd, TheNodeWhereARankFailedNamesItByItsRankInTheJob) {
  const ReportContext context{"parley-run", "./solve", ""};
  const JobEnd end = end_of_node_1();
  EXPECT_EQ(
      report(end, context),
      "parley-run: node 1 (b, pid 9): rank 5 failed first: ./solve (pid 12) exited with code 3 after 1.25 s\n"
      "parley-run: the others: ranks 4 and 6 died of signal 15 (SIGTERM), sent by parley-run\n");
  EXPECT_EQ(outcome_of(end, 1, first_sentence(end, context)), failure_of_node_1());
}

TEST(NodeEnd, TheOtherNodesSayTheSameAndExitAlike) {
  JobEnd end;
  end.where = "node 0 (a, pid 8)";
  end.ranks = {{21, {0, SIGTERM}, SIGTERM}, {22, {0, 0}, 0}};
  adopt(end, failure_of_node_1());
  EXPECT_EQ(end.exit_code(), 3);
  EXPECT_EQ(
      report(end, {"parley-run", "./solve", ""}),
      "parley-run: node 1 (b, pid 9): rank 5 failed first: ./solve (pid 12) exited with code 3 after 1.25 s\n"
      "parley-run: rank 0 died of signal 15 (SIGTERM), sent by parley-run; rank 1 exited with code 0\n");
}

TEST(NodeEnd, AFailureOfOursThatCameSecondIsForgotten) {
  JobEnd end = end_of_node_1();
  NodeOutcome first = failure_of_node_1();
  first.exit_code = 137;
  adopt(end, first);
  EXPECT_EQ(end.culprit, -1);
  EXPECT_EQ(end.exit_code(), 137);
}

TEST(NodeEnd, EveryCauseCrosses) {
  const auto across = [](JobEnd end) {
    JobEnd other;
    other.ranks = {{1, {0, SIGINT}, SIGINT}};
    adopt(other, outcome_of(end, 0, "sentence"));
    return other;
  };
  JobEnd end;
  end.ranks = {{1, {0, 0}, 0}};
  EXPECT_EQ(across(end).cause, Cause::all_done);
  EXPECT_FALSE(across(end).elsewhere);
  end.cause = Cause::timed_out;
  EXPECT_EQ(across(end).exit_code(), 124);
  end.cause = Cause::interrupted;
  end.interrupt = SIGINT;
  EXPECT_EQ(across(end).interrupt, SIGINT);
  EXPECT_EQ(across(end).exit_code(), 130) << "by what became of the ranks of this node";
}

TEST(NodeEnd, LateRanksAreNamedByTheirRankInTheJob) {
  JobEnd end;
  end.cause = Cause::timed_out;
  end.first_rank = 4;
  end.late = {0, 2};
  EXPECT_EQ(first_sentence(end, {"parley-run", "p", ""}),
            "p timed out after 0.00 s: ranks 4 and 6 were still running");
}

}  // namespace
}  // namespace parley::launch
