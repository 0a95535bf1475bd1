#include "api/wireup/last_word.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "api/wireup/world.h"
#include "tests/unit/api/watched_store.h"

namespace parley::wireup {
namespace {

using namespace std::chrono_literals;

// Holds up those who ask for a last word until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait_for(lock, 60s, [&] { return is_open_; });
  }
  bool await_arrival() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int arrived_ = 0;
};

// A world of two that link on demand, as far as last words are concerned.
struct Words {
  Words() {
    auto made = std::make_shared<WatchedStore>(make_memory_store());
    made->set_string("left/1", "in good order");
    made->on_call([gate = gate](const std::string& name, const auto&) {
      if (name == "compare_set") gate->pass();
    });
    watched = made;
    world.size = 2;
    world.on_demand = true;
    world.last_words = {.prefix = "left/", .deaths_key = "deaths", .world_size = 2};
    transport::EngineOptions options;
    options.messenger.peer_count = 2;
    world.engine = std::make_unique<transport::Engine>(options);
    world.store.set(std::move(made));
  }
  [[nodiscard]] int questions() const { return watched.lock()->calls_of("compare_set"); }

  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::weak_ptr<WatchedStore> watched;
  World world;
};

TEST(LastWord, IsFoundInTheStore) {
  Words words;
  words.gate->open();
  const auto word = find_last_word(words.world, 1, Asker::call);
  ASSERT_TRUE(word);
  EXPECT_FALSE(word->culprit);
  EXPECT_FALSE(find_last_word(words.world, 0, Asker::call));
}

TEST(LastWord, MayBeAskedForWhileTheWorldIsLeft) {
  Words words;
  std::thread asking([&] { (void)find_last_word(words.world, 1, Asker::call); });
  EXPECT_TRUE(words.gate->await_arrival());
  words.world.leave(0s);
  EXPECT_FALSE(words.watched.expired()) << "the store went while it was asked";
  EXPECT_EQ(words.world.store.get(), nullptr);
  words.gate->open();
  asking.join();
  EXPECT_FALSE(find_last_word(words.world, 1, Asker::call));
}

// The gate opens later only: this returns while the store has not answered.
TEST(LastWord, ACompletionFunctionAsksASilentStoreOnce) {
  Words words;
  EXPECT_FALSE(find_last_word(words.world, 1, Asker::completion_function));
  EXPECT_TRUE(words.gate->await_arrival());
  EXPECT_FALSE(find_last_word(words.world, 1, Asker::completion_function));
  EXPECT_EQ(words.questions(), 1);
  words.gate->open();
  for (int tries = 0; tries < 60 && !find_last_word(words.world, 1, Asker::call); ++tries) continue;
  EXPECT_TRUE(find_last_word(words.world, 1, Asker::completion_function)) << "it answers again";
}

}  // namespace
}  // namespace parley::wireup
