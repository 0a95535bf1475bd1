#include "transport/match/matcher.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace parley::transport {
namespace {

constexpr std::uint32_t context = 3;

struct Receive : PostedReceive {
  Receive(std::uint32_t source, std::int64_t tag, std::uint32_t in_context = context) {
    pattern = {in_context, source, tag};
  }
};

struct Message : Arrival {
  Message(std::uint32_t source, std::int64_t tag, std::uint32_t in_context = context) {
    envelope = {in_context, source, tag};
  }
};

// With one bucket every walk passes elements that do not fit.
class MatcherTest : public testing::TestWithParam<std::size_t> {
 protected:
  // What the protocol does with a message.
  PostedReceive* deliver(Message& message) {
    PostedReceive* receive = matcher.match_arrival(message.envelope);
    if (receive == nullptr) matcher.keep(message);
    return receive;
  }
  Matcher matcher{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Buckets, MatcherTest, testing::Values<std::size_t>(1, 2, 1024));

TEST_P(MatcherTest, EmptyMatchesNothing) {
  EXPECT_EQ(matcher.match_arrival({context, 1, 2}), nullptr);
  EXPECT_EQ(matcher.find({context, any_source, any_tag}), nullptr);
}

TEST_P(MatcherTest, PostedReceiveGetsItsMessageAndLeaves) {
  Receive receive(1, 7);
  EXPECT_EQ(matcher.post(receive), nullptr);
  EXPECT_TRUE(matcher.is_posted(receive));
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &receive);
  EXPECT_FALSE(matcher.is_posted(receive));
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), nullptr);
}

TEST_P(MatcherTest, KeptMessageGoesToTheReceiveThatFollows) {
  Message message(1, 7);
  EXPECT_EQ(deliver(message), nullptr);
  Receive receive(1, 7);
  EXPECT_EQ(matcher.post(receive), &message);
  EXPECT_FALSE(matcher.is_posted(receive));
  EXPECT_EQ(matcher.find({context, any_source, any_tag}), nullptr);
}

TEST_P(MatcherTest, ContextSourceAndTagMustAllFit) {
  Receive receive(1, 7);
  matcher.post(receive);
  EXPECT_EQ(matcher.match_arrival({context + 1, 1, 7}), nullptr);
  EXPECT_EQ(matcher.match_arrival({context, 2, 7}), nullptr);
  EXPECT_EQ(matcher.match_arrival({context, 1, 8}), nullptr);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &receive);
}

TEST_P(MatcherTest, WildcardsDoNotCrossContexts) {
  Receive receive(any_source, any_tag, context + 1);
  matcher.post(receive);
  Message message(1, 7);
  EXPECT_EQ(deliver(message), nullptr);
  EXPECT_EQ(matcher.find({context + 1, any_source, any_tag}), nullptr);
  EXPECT_EQ(matcher.find({context, any_source, any_tag}), &message);
}

TEST_P(MatcherTest, MessagesOfOneEnvelopeDoNotOvertake) {
  Message first(1, 7);
  Message second(1, 7);
  deliver(first);
  deliver(second);
  Receive a(1, 7);
  Receive b(1, 7);
  EXPECT_EQ(matcher.post(a), &first);
  EXPECT_EQ(matcher.post(b), &second);
}

TEST_P(MatcherTest, ReceivesOfOnePatternDoNotOvertake) {
  Receive a(1, 7);
  Receive b(1, 7);
  matcher.post(a);
  matcher.post(b);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &a);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &b);
}

TEST_P(MatcherTest, AnyTagTakesTheOldestOfItsSource) {
  Message other(2, 1);
  Message first(1, 9);
  Message second(1, 3);
  deliver(other);
  deliver(first);
  deliver(second);
  Receive receive(1, any_tag);
  EXPECT_EQ(matcher.post(receive), &first);
}

TEST_P(MatcherTest, AnySourceTakesTheOldestOfItsTag) {
  Message other(2, 1);
  Message first(4, 9);
  Message second(1, 9);
  deliver(other);
  deliver(first);
  deliver(second);
  Receive receive(any_source, 9);
  EXPECT_EQ(matcher.post(receive), &first);
}

TEST_P(MatcherTest, AnySourceAnyTagTakesTheOldestOfAll) {
  Message elsewhere(1, 1, context + 1);
  Message first(4, 9);
  Message second(1, 2);
  deliver(elsewhere);
  deliver(first);
  deliver(second);
  Receive receive(any_source, any_tag);
  EXPECT_EQ(matcher.post(receive), &first);
}

TEST_P(MatcherTest, OlderWildcardWinsOverExact) {
  Receive wild(any_source, 7);
  Receive exact(1, 7);
  matcher.post(wild);
  matcher.post(exact);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &wild);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &exact);
}

TEST_P(MatcherTest, OlderExactWinsOverWildcard) {
  Receive exact(1, 7);
  Receive wild(any_source, any_tag);
  matcher.post(exact);
  matcher.post(wild);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &exact);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &wild);
}

TEST_P(MatcherTest, OldestOfSeveralWildcardsWins) {
  Receive unfit(2, any_tag);
  Receive older(1, any_tag);
  Receive younger(any_source, 7);
  matcher.post(unfit);
  matcher.post(older);
  matcher.post(younger);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &older);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &younger);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), nullptr);
  EXPECT_TRUE(matcher.is_posted(unfit));
}

TEST_P(MatcherTest, FindLeavesTheMessage) {
  Message message(1, 7);
  deliver(message);
  EXPECT_EQ(matcher.find({context, 1, any_tag}), &message);
  EXPECT_EQ(matcher.find({context, 1, 7}), &message);
  EXPECT_EQ(matcher.find({context, 1, 8}), nullptr);
}

TEST_P(MatcherTest, TakenMessageIsGone) {
  Message message(1, 7);
  deliver(message);
  matcher.take(message);
  EXPECT_EQ(matcher.find({context, any_source, any_tag}), nullptr);
  Receive receive(1, 7);
  EXPECT_EQ(matcher.post(receive), nullptr);
}

TEST_P(MatcherTest, MessagePutBackIsTheOldestAgain) {
  Message first(1, 7);
  Message second(1, 7);
  deliver(first);
  deliver(second);
  matcher.take(first);
  EXPECT_EQ(matcher.put_back(first), nullptr);
  for (const Pattern& pattern :
       {Pattern{context, 1, 7}, Pattern{context, 1, any_tag}, Pattern{context, any_source, 7}})
    EXPECT_EQ(matcher.find(pattern), &first);
}

TEST_P(MatcherTest, MessagePutBackGoesBetweenItsNeighbours) {
  Message first(1, 7);
  Message second(1, 7);
  Message third(1, 7);
  for (Message* message : {&first, &second, &third}) deliver(*message);
  matcher.take(second);
  EXPECT_EQ(matcher.put_back(second), nullptr);
  std::vector<const Arrival*> seen;
  for (Arrival* one = matcher.oldest_arrival(); one != nullptr; one = matcher.next_arrival(*one))
    seen.push_back(one);
  EXPECT_EQ(seen, (std::vector<const Arrival*>{&first, &second, &third}));
  for (Message* message : {&first, &second, &third}) {
    Receive receive(1, 7);
    EXPECT_EQ(matcher.post(receive), message);
  }
}

TEST_P(MatcherTest, MessagePutBackGoesToTheReceivePostedMeanwhile) {
  Message message(1, 7);
  deliver(message);
  matcher.take(message);
  Receive wild(any_source, 7);
  Receive exact(1, 7);
  matcher.post(wild);
  matcher.post(exact);
  EXPECT_EQ(matcher.put_back(message), &wild);
  EXPECT_TRUE(matcher.is_posted(exact));
  EXPECT_EQ(matcher.find({context, any_source, any_tag}), nullptr);
}

TEST_P(MatcherTest, UnpostedReceiveGetsNothing) {
  Receive exact(1, 7);
  Receive wild(any_source, any_tag);
  matcher.post(exact);
  matcher.post(wild);
  matcher.unpost(exact);
  EXPECT_FALSE(matcher.is_posted(exact));
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &wild);
}

TEST_P(MatcherTest, RepostedReceiveIsTheOldestAgain) {
  for (const bool is_wild : {false, true}) {
    Receive first(is_wild ? any_source : 1, 7);
    Receive second(1, 7);
    matcher.post(first);
    matcher.post(second);
    ASSERT_EQ(matcher.match_arrival({context, 1, 7}), &first);
    EXPECT_EQ(matcher.repost(first), nullptr);
    EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &first);
    EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &second);
  }
}

TEST_P(MatcherTest, RepostedReceiveThatWasMatchedAtOnceKeepsItsPlaceToo) {
  Message message(1, 7);
  deliver(message);
  Receive first(1, 7);
  Receive second(1, 7);
  ASSERT_EQ(matcher.post(first), &message);
  matcher.post(second);
  EXPECT_EQ(matcher.repost(first), nullptr);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &first);
}

TEST_P(MatcherTest, RepostedReceiveGetsTheMessageThatCameMeanwhile) {
  Receive receive(1, any_tag);
  matcher.post(receive);
  matcher.unpost(receive);
  Message first(1, 7);
  Message second(1, 8);
  deliver(first);
  deliver(second);
  EXPECT_EQ(matcher.repost(receive), &first);
  EXPECT_FALSE(matcher.is_posted(receive));
  EXPECT_EQ(matcher.find({context, 1, any_tag}), &second);
}

TEST_P(MatcherTest, VisitsPostedReceivesOldestFirst) {
  std::array<Receive, 4> receives{Receive(1, 7), Receive(any_source, 7), Receive(2, any_tag), Receive(5, 1)};
  for (Receive& receive : receives) matcher.post(receive);
  std::vector<const PostedReceive*> seen;
  matcher.visit_posted([&](const PostedReceive& one) { seen.push_back(&one); });
  EXPECT_EQ(seen,
            (std::vector<const PostedReceive*>{&receives[0], &receives[1], &receives[2], &receives[3]}));
}

TEST_P(MatcherTest, PostingAgainIsANewPlace) {
  Receive first(1, 7);
  Receive second(1, 7);
  matcher.post(first);
  matcher.unpost(first);
  matcher.post(second);
  matcher.post(first);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &second);
  EXPECT_EQ(matcher.match_arrival({context, 1, 7}), &first);
}

TEST_P(MatcherTest, TagsBeyond32BitsAreTold) {
  constexpr std::int64_t big = std::int64_t{1} << 40;
  Receive receive(1, big + 5);
  matcher.post(receive);
  EXPECT_EQ(matcher.match_arrival({context, 1, 5}), nullptr);
  EXPECT_EQ(matcher.match_arrival({context, 1, big + 5}), &receive);
}

}  // namespace
}  // namespace parley::transport
