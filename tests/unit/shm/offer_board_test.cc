#include "transport/shm/offer_board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace parley::transport::shm {
namespace {

struct Board {
  alignas(board_bytes) std::array<std::byte, board_bytes> memory{};
  OwnOffers own{memory.data()};
  PeerOffers peer{memory.data()};
};

TEST(OfferBoard, AnOfferIsTakenOrTakenBack) {
  Board board;
  const OfferToken taken = board.own.open().value();
  EXPECT_TRUE(board.peer.stands(taken));
  EXPECT_TRUE(board.peer.take(taken));
  EXPECT_FALSE(board.peer.take(taken));
  EXPECT_FALSE(board.own.withdraw(taken));
  const OfferToken withdrawn = board.own.open().value();
  EXPECT_TRUE(board.own.withdraw(withdrawn));
  EXPECT_FALSE(board.peer.stands(withdrawn));
  EXPECT_FALSE(board.peer.take(withdrawn));
}

TEST(OfferBoard, AWordWhoseOfferWasTakenServesTheNext) {
  Board board;
  for (int round = 0; round < 3; ++round) {
    const OfferToken token = board.own.open().value();
    EXPECT_TRUE(board.peer.take(token));
    board.own.note_taken(token);
    const OfferToken withdrawn = board.own.open().value();
    EXPECT_EQ(withdrawn.word, token.word);
    EXPECT_TRUE(board.own.withdraw(withdrawn));
  }
}

TEST(OfferBoard, AnOldOfferIsNotTakenForTheNextOneOfItsWord) {
  Board board;
  const OfferToken old = board.own.open().value();
  EXPECT_TRUE(board.own.withdraw(old));
  const OfferToken next = board.own.open().value();
  ASSERT_EQ(next.word, old.word);
  EXPECT_FALSE(board.peer.stands(old));
  EXPECT_FALSE(board.peer.take(old));
  EXPECT_TRUE(board.peer.take(next));
}

TEST(OfferBoard, HasItsWordsAndNoMore) {
  Board board;
  std::set<std::uint32_t> words;
  std::vector<OfferToken> tokens;
  while (const auto token = board.own.open()) {
    EXPECT_TRUE(PeerOffers::is_valid(*token));
    words.insert(token->word);
    tokens.push_back(*token);
    ASSERT_LE(tokens.size(), board_words);
  }
  EXPECT_EQ(words.size(), board_words);
  EXPECT_FALSE(PeerOffers::is_valid({.word = board_words, .generation = 1}));
  EXPECT_TRUE(board.own.withdraw(tokens[17]));
  EXPECT_EQ(board.own.open()->word, tokens[17].word);
}

TEST(OfferBoard, WhateverThePeerWritesNothingBreaks) {
  Board board;
  const OfferToken token = board.own.open().value();
  for (const int byte : {0x01, 0xff}) {
    board.memory.fill(static_cast<std::byte>(byte));
    EXPECT_FALSE(board.peer.take(token));
  }
  EXPECT_FALSE(board.own.withdraw(token)) << "the send ends, too early";
  EXPECT_TRUE(board.own.open().has_value());
}

// A sender that offers its buffer `rounds` times and takes it back each time, to use it for something else,
// unless it has heard that it was taken; a receiver that reads the buffer in pieces, takes what it has read,
// and then tells. Each step is one access to shared memory, so all interleavings of the steps are all that
// can happen.
class Model {
 public:
  static constexpr int pieces = 3;
  static constexpr int rounds = 2;
  static constexpr int sender_steps = rounds * (2 + pieces);

  // Nothing: it has ended.
  bool sender_can_step() const { return sent_ < sender_steps; }
  void sender_step() {
    const int step = sent_++ % (2 + pieces);
    if (step == 0) {
      buffer_.fill(++content_);
      offer_ = board_.own.open().value();
      offered_ = {{*offer_, content_}};
      outcomes_.push_back(Outcome::open);
    } else if (step == 1) {
      if (told_ == content_) {
        board_.own.note_taken(*offer_);
        outcomes_.back() = Outcome::sent;
      } else {
        outcomes_.back() = board_.own.withdraw(*offer_) ? Outcome::withdrawn : Outcome::sent;
      }
    } else {
      buffer_[static_cast<std::size_t>(step - 2)] = -1;  // the caller's again
    }
  }
  bool receiver_can_step() const { return to_tell_ != 0 || reading_ || (offered_ && received_ < rounds); }
  void receiver_step() {
    if (to_tell_ != 0) {
      told_ = std::exchange(to_tell_, 0);
    } else if (!reading_) {
      reading_ = *std::exchange(offered_, std::nullopt);
      copy_ = {};
      read_ = 0;
    } else if (read_ < pieces) {
      copy_[static_cast<std::size_t>(read_)] = buffer_[static_cast<std::size_t>(read_)];
      ++read_;
    } else {
      ++received_;
      if (board_.peer.take(reading_->first)) {
        handed_out_.push_back(to_tell_ = reading_->second);
        for (const int piece : copy_) is_right_ = is_right_ && piece == reading_->second;
      }
      reading_.reset();
    }
  }
  // Of every message that was handed out all bytes were right, and its sender has seen that it was sent.
  bool holds() const {
    if (!is_right_) return false;
    for (int round = 1; round <= rounds; ++round) {
      const bool is_out = std::count(handed_out_.begin(), handed_out_.end(), round) == 1;
      const bool is_sent = outcomes_[static_cast<std::size_t>(round - 1)] == Outcome::sent;
      if (is_out != is_sent) return false;
    }
    return true;
  }
  std::size_t handed_out() const { return handed_out_.size(); }

 private:
  enum class Outcome { open, withdrawn, sent };

  Board board_;
  std::array<int, pieces> buffer_{};
  int content_ = 0, sent_ = 0, received_ = 0, read_ = 0;
  int to_tell_ = 0, told_ = 0;  // content of what was taken
  std::optional<OfferToken> offer_;
  std::optional<std::pair<OfferToken, int>> offered_;  // on the link: the last offer that was not begun
  std::optional<std::pair<OfferToken, int>> reading_;
  std::array<int, pieces> copy_{};
  std::vector<int> handed_out_;
  std::vector<Outcome> outcomes_;
  bool is_right_ = true;
};

// Runs every order in which the steps can follow each other: `order` is one of them so far. Returns how many.
void run_all(std::vector<bool>& order, std::size_t& runs, std::set<std::size_t>& handed_out) {
  Model model;
  for (const bool is_sender : order) is_sender ? model.sender_step() : model.receiver_step();
  const bool sender = model.sender_can_step(), receiver = model.receiver_can_step();
  if (!sender && !receiver) {
    ++runs;
    handed_out.insert(model.handed_out());
    ASSERT_TRUE(model.holds()) << "in run " << runs;
    return;
  }
  for (const bool is_sender : {true, false}) {
    if (!(is_sender ? sender : receiver)) continue;
    order.push_back(is_sender);
    run_all(order, runs, handed_out);
    order.pop_back();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(OfferBoard, NoInterleavingHandsOutWhatWasReadTooLate) {
  std::vector<bool> order;
  std::size_t runs = 0;
  std::set<std::size_t> handed_out;
  run_all(order, runs, handed_out);
  EXPECT_GT(runs, 1000U);
  EXPECT_EQ(handed_out, (std::set<std::size_t>{0, 1, 2})) << "every outcome was met";
}

// Two threads and real memory, for ThreadSanitizer's eyes, too: exactly one of the two wins each time. Where
// others keep the processors busy each round waits for its turn, so there are fewer.
TEST(OfferBoard, OneOfTwoThreadsWinsEachOffer) {
  constexpr std::uint64_t rounds = 20'000, over = ~std::uint64_t{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  Board board;
  std::atomic<std::uint64_t> shown{0};  // the token, as the link would bring it
  std::atomic<std::uint64_t> answered{0};
  std::vector<char> taken(rounds + 1, 0);
  std::thread receiver([&] {
    for (std::uint64_t round = 1;; ++round) {
      std::uint64_t token = 0;
      while ((token = shown.load(std::memory_order_acquire)) >> 32 != round) {
        if (token == over) return;
        std::this_thread::yield();
      }
      taken[round] =
          board.peer.take({static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(token >> 32)});
      answered.store(round, std::memory_order_release);
    }
  });
  std::uint64_t both = 0, neither = 0, played = 0;
  while (played < rounds && std::chrono::steady_clock::now() < end) {
    const std::uint64_t round = ++played;
    const OfferToken token = board.own.open().value();
    shown.store((std::uint64_t{token.generation} << 32) | token.word, std::memory_order_release);
    const bool withdrawn = board.own.withdraw(token);
    while (answered.load(std::memory_order_acquire) != round) std::this_thread::yield();
    const bool was_taken = taken[round] != 0;
    both += withdrawn && was_taken ? 1 : 0;
    neither += !withdrawn && !was_taken ? 1 : 0;
  }
  shown.store(over, std::memory_order_release);
  receiver.join();
  EXPECT_GT(played, 0U);
  EXPECT_EQ(both, 0U);
  EXPECT_EQ(neither, 0U);
}

}  // namespace
}  // namespace parley::transport::shm
