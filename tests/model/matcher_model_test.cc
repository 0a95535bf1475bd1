// Random programs for the matcher, step by step beside a model that is too simple to be wrong: two vectors in
// order of age, scanned from the front.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <random>
#include <tuple>
#include <vector>

#include "transport/match/matcher.h"

namespace parley::transport {
namespace {

struct Receive : PostedReceive {};
struct Message : Arrival {};

// The rules of matching, written as plainly as they can be. Keeps the objects' addresses and ages only.
class Model {
 public:
  // Each returns the partner, which has left the model, or nullptr.
  Arrival* post(PostedReceive& receive) {
    ages_.push_back(&receive);
    return place(receive);
  }
  PostedReceive* arrive(Arrival& arrival) {
    arrival_ages_.push_back(&arrival);
    return place(arrival);
  }
  Arrival* place(PostedReceive& receive) {
    if (Arrival* arrival = find(receive.pattern)) {
      take(*arrival);
      return arrival;
    }
    insert(posted_, receive, ages_);
    return nullptr;
  }
  PostedReceive* place(Arrival& arrival) {
    const auto found = std::find_if(posted_.begin(), posted_.end(),
                                    [&](auto* item) { return item->pattern.accepts(arrival.envelope); });
    if (found == posted_.end()) {
      insert(arrivals_, arrival, arrival_ages_);
      return nullptr;
    }
    PostedReceive* receive = *found;
    posted_.erase(found);
    return receive;
  }
  Arrival* find(const Pattern& pattern) {
    const auto found = std::find_if(arrivals_.begin(), arrivals_.end(),
                                    [&](auto* item) { return pattern.accepts(item->envelope); });
    return found == arrivals_.end() ? nullptr : *found;
  }
  void take(Arrival& arrival) { std::erase(arrivals_, &arrival); }
  void unpost(PostedReceive& receive) { std::erase(posted_, &receive); }
  // The object will never come back.
  void forget(PostedReceive& receive) { std::erase(ages_, &receive); }
  void forget(Arrival& arrival) { std::erase(arrival_ages_, &arrival); }

  [[nodiscard]] const std::vector<PostedReceive*>& posted() const { return posted_; }
  [[nodiscard]] const std::vector<Arrival*>& arrivals() const { return arrivals_; }

 private:
  template <typename T>
  static void insert(std::vector<T*>& line, T& item, const std::vector<T*>& ages) {
    const auto age = [&](const T* one) { return std::find(ages.begin(), ages.end(), one) - ages.begin(); };
    const auto mine = age(&item);
    line.insert(std::find_if(line.begin(), line.end(), [&](const T* one) { return age(one) > mine; }), &item);
  }

  std::vector<PostedReceive*> posted_;
  std::vector<Arrival*> arrivals_;
  std::vector<PostedReceive*> ages_;    // everything that may still be posted, oldest first
  std::vector<Arrival*> arrival_ages_;  // everything that may still be kept, oldest first
};

// Both sides of the comparison, and the objects that are in the caller's hands.
class Program {
 public:
  Program(std::size_t buckets, std::uint32_t seed) : matcher_(buckets), random_(seed) {}

  void step() {
    // Phases in which one side is ahead, so that both queues become long at some time.
    if (steps_++ % 200 == 0) receives_ahead_ = !receives_ahead_;
    const int dice = pick(100);
    const bool receive_first = receives_ahead_ ? dice < 45 : dice < 20;
    if (dice < 65)
      receive_first ? post() : arrive();
    else if (dice < 75)
      find();
    else if (dice < 82)
      take();
    else if (dice < 89)
      put_back();
    else if (dice < 94)
      unpost();
    else
      repost();
  }

  void compare() {
    std::vector<const Arrival*> arrivals;
    for (Arrival* one = matcher_.oldest_arrival(); one != nullptr; one = matcher_.next_arrival(*one))
      arrivals.push_back(one);
    ASSERT_TRUE(
        std::equal(arrivals.begin(), arrivals.end(), model_.arrivals().begin(), model_.arrivals().end()));
    std::vector<const PostedReceive*> posted;
    matcher_.visit_posted([&](const PostedReceive& one) { posted.push_back(&one); });
    ASSERT_TRUE(std::equal(posted.begin(), posted.end(), model_.posted().begin(), model_.posted().end()));
    for (const PostedReceive* receive : posted) {
      ASSERT_TRUE(matcher_.is_posted(*receive));
      for (const Arrival* arrival : arrivals) ASSERT_FALSE(receive->pattern.accepts(arrival->envelope));
    }
  }

  [[nodiscard]] std::size_t longest_arrivals() const { return longest_arrivals_; }
  [[nodiscard]] std::size_t longest_posted() const { return longest_posted_; }
  [[nodiscard]] int pairs() const { return pairs_; }

 private:
  static constexpr std::size_t most_waiting = 60;

  int pick(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  template <typename T>
  T* pick_out(std::vector<T*>& from) {
    if (from.empty()) return nullptr;
    const auto at = from.begin() + pick(static_cast<int>(from.size()));
    T* item = *at;
    from.erase(at);
    return item;
  }

  Envelope random_envelope() {
    return {static_cast<std::uint32_t>(pick(3)), static_cast<std::uint32_t>(pick(5)),
            pick(4) == 0 ? std::int64_t{1} << 40 : pick(5)};
  }
  Pattern random_pattern() {
    const Envelope like = random_envelope();
    Pattern pattern{like.context, like.source, like.tag};
    const int kind = pick(10);
    if (kind == 0 || kind == 1) pattern.source = any_source;
    if (kind == 0 || kind == 2) pattern.tag = any_tag;
    return pattern;
  }

  void post() {
    if (model_.posted().size() >= most_waiting) return;
    Receive& receive = receives_.emplace_back();
    receive.pattern = random_pattern();
    settle(receive, matcher_.post(receive), model_.post(receive));
  }
  void arrive() {
    if (model_.arrivals().size() >= most_waiting) return;
    Message& message = messages_.emplace_back();
    message.envelope = random_envelope();
    PostedReceive* receive = matcher_.match_arrival(message.envelope);
    if (receive == nullptr) matcher_.keep(message);
    PostedReceive* expected = model_.arrive(message);
    ASSERT_EQ(receive, expected);
    if (receive == nullptr) return;
    ++pairs_;
    // A message that was never kept has no old place; its receive may come back into its own.
    model_.forget(message);
    matched_receive(*receive);
  }
  void find() {
    const Pattern pattern = random_pattern();
    ASSERT_EQ(matcher_.find(pattern), model_.find(pattern));
  }
  void take() {
    if (model_.arrivals().empty()) return;
    Arrival* arrival =
        model_.arrivals()[static_cast<std::size_t>(pick(static_cast<int>(model_.arrivals().size())))];
    matcher_.take(*arrival);
    model_.take(*arrival);
    taken_.push_back(arrival);
  }
  void put_back() {
    Arrival* arrival = pick_out(taken_);
    if (arrival == nullptr) return;
    PostedReceive* receive = matcher_.put_back(*arrival);
    ASSERT_EQ(receive, model_.place(*arrival));
    if (receive == nullptr) return;
    ++pairs_;
    matched_arrival(*arrival);
    matched_receive(*receive);
  }
  void unpost() {
    if (model_.posted().empty()) return;
    PostedReceive* receive =
        model_.posted()[static_cast<std::size_t>(pick(static_cast<int>(model_.posted().size())))];
    matcher_.unpost(*receive);
    model_.unpost(*receive);
    ASSERT_FALSE(matcher_.is_posted(*receive));
    matched_receive(*receive);
  }
  void repost() {
    PostedReceive* receive = pick_out(revoked_);
    if (receive == nullptr) return;
    settle(*receive, matcher_.repost(*receive), model_.place(*receive));
  }

  void settle(PostedReceive& receive, Arrival* got, Arrival* expected) {
    ASSERT_EQ(got, expected);
    longest_arrivals_ = std::max(longest_arrivals_, model_.arrivals().size());
    longest_posted_ = std::max(longest_posted_, model_.posted().size());
    if (got == nullptr) return;
    ++pairs_;
    matched_arrival(*got);
    matched_receive(receive);
  }
  // Some of what was matched comes back later; the rest is over.
  void matched_receive(PostedReceive& receive) {
    if (pick(3) == 0)
      revoked_.push_back(&receive);
    else
      model_.forget(receive);
  }
  void matched_arrival(Arrival& arrival) {
    if (pick(3) == 0)
      taken_.push_back(&arrival);
    else
      model_.forget(arrival);
  }

  Matcher matcher_;
  Model model_;
  std::mt19937 random_;
  std::deque<Receive> receives_;  // stable addresses
  std::deque<Message> messages_;
  std::vector<Arrival*> taken_;
  std::vector<PostedReceive*> revoked_;
  int steps_ = 0;
  bool receives_ahead_ = false;
  int pairs_ = 0;
  std::size_t longest_arrivals_ = 0;
  std::size_t longest_posted_ = 0;
};

class MatcherModel : public testing::TestWithParam<std::tuple<std::size_t, std::uint32_t>> {};

TEST_P(MatcherModel, PairsAsTheModelDoes) {
  const auto [buckets, seed] = GetParam();
  SCOPED_TRACE(testing::Message() << "buckets " << buckets << ", seed " << seed);
  Program program(buckets, seed);
  for (int step = 0; step < 8000; ++step) {
    program.step();
    // Every pairing is compared in its step; all that waits, now and then.
    if (!HasFatalFailure() && step % 8 == 0) program.compare();
    ASSERT_FALSE(HasFatalFailure()) << "in step " << step;
  }
  // The program was worth its time: both queues were long, and much was paired.
  EXPECT_GT(program.longest_arrivals(), 10U);
  EXPECT_GT(program.longest_posted(), 10U);
  EXPECT_GT(program.pairs(), 500);
}

INSTANTIATE_TEST_SUITE_P(Random, MatcherModel,
                         testing::Combine(testing::Values<std::size_t>(1, 2, 1024),
                                          testing::Values<std::uint32_t>(1, 2, 3, 20250711)));

}  // namespace
}  // namespace parley::transport
