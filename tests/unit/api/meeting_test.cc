// What the members of a group-to-be leave in the store, and when they take it away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/group_state.h"
#include "tests/unit/api/error_text.h"
#include "tests/unit/api/watched_store.h"

namespace parley {
namespace {

using namespace std::chrono_literals;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;

wireup::World& world_of(const ProcessGroup& group) {
  return *detail::GroupAccess::state(group)->world;
}

void watch_store(const ProcessGroup& group, WatchedStore::Look look) {
  auto watched = std::make_shared<WatchedStore>(world_of(group).store.get());
  watched->on_call(std::move(look));
  world_of(group).store.set(std::move(watched));
}

// Who reads a note looks for the result before it believes that the other one still waits.
TEST(Meeting, TakesItsNotesAwayBeforeItsResult) {
  std::mutex mutex;
  std::vector<std::string> removed;
  run_world(3, [&](ProcessGroup& world) {
    watch_store(world, [&](const std::string& name, const WatchedStore::Keys& keys) {
      const std::lock_guard lock(mutex);
      if (name == "remove") removed.push_back(keys.front());
    });
    if (world.rank() == 2) {  // comes when the others miss it
      std::vector<std::string> notes;
      for (const int rank : {0, 1})
        notes.push_back(world_of(world).group_key("waiting/" + std::to_string(rank)));
      world_of(world).store.get()->wait(notes, 30s);
    }
    EXPECT_EQ(world.dup().size(), 3);
  });
  const auto is_of = [](const char* part) {
    return [=](const std::string& key) { return key.find(part) != std::string::npos; };
  };
  const auto result = std::find_if(removed.begin(), removed.end(), is_of("/result"));
  EXPECT_EQ(std::count_if(removed.begin(), result, is_of("waiting/")), 2);
  EXPECT_EQ(std::count_if(result, removed.end(), is_of("waiting/")), 0);
}

// It has said that it is there, so the others would not miss it: they are told at once.
TEST(Meeting, OfWhomTheTimeRunsOutInTheDoorIsOverForAll) {
  run_world(2, [](ProcessGroup& world) {
    const auto begin = std::chrono::steady_clock::now();
    GroupOptions options;
    if (world.rank() == 0) {
      options.timeout = 20ms;
      watch_store(world, [](const std::string& name, const WatchedStore::Keys& keys) {
        if (name != "add" || keys.front().find("/count") == std::string::npos) return;
        std::this_thread::sleep_for(30ms);
        throw StoreTimeoutError("no answer from the store");
      });
    }
    EXPECT_THAT(error_text<TimeoutError>([&] { (void)world.dup(options); }), HasSubstr("timed out: "));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "long before the timeout of rank 1";
  });
}

}  // namespace
}  // namespace parley
