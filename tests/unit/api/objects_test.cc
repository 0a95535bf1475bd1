// Object lists over ranks that are threads; what a hostile peer may send: text_list_test.cc and the fuzzers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/objects.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <cmath>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "api/group_state.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/error_text.h"
#include "tests/unit/api/pair.h"

namespace parley {
namespace {

using ::testing::AllOf;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_pair;
using testing::run_world;
using Objects = std::vector<Object>;

// An object of so many arrays in one another.
Object nested(int depth) {
  Object object = 1;
  for (int i = 0; i < depth; ++i) object = Object::array({object});
  return object;
}

// Where lists travel, for other messages.
ProcessGroup raw_lists(const ProcessGroup& world) {
  const auto& state = detail::GroupAccess::state(world);
  return detail::GroupAccess::make(state->within(state->all_contexts.object_lists));
}

TEST(Objects, AListArrivesAsItLeft) {
  run_world(2, [](ProcessGroup& world) {
    const Objects sent{"hello",           123, {1, 2, 3}, nullptr, true, {{"key", {{"deep", -1.5}}}},
                       "\u00e4\u20ac\0x", ""};
    if (world.rank() == 0) return send_object_list(world, sent, 1);
    Objects got{"is", "replaced"};
    EXPECT_EQ(recv_object_list(world, got, 0), 0);
    EXPECT_EQ(got, sent);
  });
}

TEST(Objects, AListMayBeEmptyOrLarge) {
  run_world(2, [](ProcessGroup& world) {
    const Objects large(10, Object(std::string(200'000, 'x')));
    if (world.rank() == 0) {
      send_object_list(world, {}, 1);
      send_object_list(world, large, 1);
      return;
    }
    Objects got{1};
    recv_object_list(world, got, 0);
    EXPECT_TRUE(got.empty());
    recv_object_list(world, got, 0);
    EXPECT_EQ(got, large);
  });
}

TEST(Objects, ListsMatchByTagAndSource) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() > 0) {
      for (const int tag : {1, 2}) send_object_list(world, Objects{{world.rank(), tag}}, 0, {.tag = tag});
      return;
    }
    Objects got;
    for (const int tag : {2, 1})
      for (const int source : {2, 1}) {
        EXPECT_EQ(recv_object_list(world, got, source, {.tag = tag}), source);
        EXPECT_EQ(got, (Objects{{source, tag}}));
      }
  });
}

TEST(Objects, AnySourceNeverMixesTwoSenders) {
  constexpr int senders = 4, lists = 50;
  run_world(senders + 1, [](ProcessGroup& world) {
    if (world.rank() > 0) {
      for (int i = 0; i < lists; ++i)
        send_object_list(world, Objects(static_cast<std::size_t>(1 + (i + world.rank()) % 5), world.rank()),
                         0);
      return;
    }
    // Two threads that take what comes.
    const auto take = [&] {
      for (int i = 0; i < senders * lists / 2; ++i) {
        Objects got;
        const int source = recv_object_list(world, got, any_source, {.tag = any_tag});
        EXPECT_FALSE(got.empty());
        for (const Object& object : got) EXPECT_EQ(object, source);
      }
    };
    std::thread other(take);
    take();
    other.join();
  });
}

TEST(Objects, TensorsAndListsNeverMatch) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      send_object_list(world, Objects{1}, 1);
      return (void)world.barrier();
    }
    world.barrier();
    EXPECT_FALSE(world.iprobe(any_source, {.tag = any_tag}));
    Objects got;
    recv_object_list(world, got, any_source, {.tag = any_tag});
    EXPECT_EQ(got, Objects{1});
  });
}

TEST(Objects, RanksAreThoseOfTheGroup) {
  run_world(11, [](ProcessGroup& world) {
    ProcessGroup evens = world.new_group({2, 4, 6, 8, 10});
    if (!evens.is_member()) return;
    Objects got;
    if (evens.rank() == 0) send_object_list(evens, Objects{"hello", 123, {1, 2, 3}}, 4);
    if (evens.rank() == 4) {
      EXPECT_EQ(recv_object_list(evens, got, any_source), 0);
      EXPECT_EQ(got, (Objects{"hello", 123, {1, 2, 3}}));
    }
    got = {evens.rank()};
    broadcast_object_list(evens, got, 3);
    EXPECT_EQ(got, Objects{3});
  });
}

TEST(Objects, AWorldOfOne) {
  run_world(1, [](ProcessGroup& world) {
    Objects list{1, 2};
    send_object_list(world, list, 0);
    list.clear();
    EXPECT_EQ(recv_object_list(world, list, any_source), 0);
    broadcast_object_list(world, list, 0);
    EXPECT_EQ(list, (Objects{1, 2}));
    EXPECT_EQ(gather_object(world, 1, 0), Objects{1});
    EXPECT_EQ(all_gather_object(world, 1), Objects{1});
    EXPECT_EQ(scatter_object_list(world, list = {7}, 0), 7);
  });
}

TEST(Objects, WhatCannotBeSentIsTheCallersMistake) {
  run_world(2, [](ProcessGroup& world) {
    const int peer = 1 - world.rank();
    const auto send = [&](const Object& object, const ObjectOptions& options = {}) {
      return error_text<UsageError>([&] { send_object_list(world, Objects{object}, peer, options); });
    };
    EXPECT_THAT(send(nested(65)), HasSubstr("deeper than max_depth, 64"));
    EXPECT_THAT(send("\xff"), HasSubstr("JSON"));
    EXPECT_THAT(send(Object(Object::value_t::discarded)), HasSubstr("parsed"));
    EXPECT_THAT(send(Object::array({1, Object(Object::value_t::discarded)})), HasSubstr("parsed"));
    EXPECT_THAT(send({{"key", Object::binary({1, 2})}}), HasSubstr("binary data"));
    EXPECT_THAT(send(std::string(100, 'x'), {.max_bytes = 100}), HasSubstr("beyond max_bytes, 100"));
    EXPECT_THAT(error_text<UsageError>([&] { all_gather_object(world, nested(65)); }),
                HasSubstr("max_depth"));
    Objects list;
    EXPECT_THAT(error_text<UsageError>([&] { broadcast_object_list(world, list, 2); }), HasSubstr("0 to 1"));
    EXPECT_THAT(error_text<UsageError>([&] { send_object_list(world, list, 2); }), HasSubstr("0 to 1"));
    // Nothing of all that was sent, and the group operations still agree.
    EXPECT_EQ(all_gather_object(world, world.rank()), (Objects{0, 1}));
    EXPECT_EQ(all_gather_object(world, nested(64))[0], nested(64));
  });
}

TEST(Objects, LimitsCanBeRaised) {
  run_world(2, [](ProcessGroup& world) {
    const ObjectOptions wide{.max_bytes = std::size_t{40} << 20, .max_depth = 1000};
    const std::size_t bytes = std::size_t{sanitizer::watches_threads ? 1 : 20} << 20;
    const Objects sent{nested(1000), std::string(bytes, 'x')};
    if (world.rank() == 0) return send_object_list(world, sent, 1, wide);
    Objects got;
    recv_object_list(world, got, 0, wide);
    EXPECT_EQ(got, sent);
  });
}

TEST(Objects, LimitsAre16MiBAndADepthOf64) {
  run_pair(
      [](ProcessGroup& world) {
        const ObjectOptions wide{.max_bytes = std::size_t{40} << 20, .max_depth = 1000};
        const Objects large{std::string(std::size_t{17} << 20, 'x')}, deep{nested(65)};
        EXPECT_THAT(error_text<UsageError>([&] { send_object_list(world, large, 1); }),
                    HasSubstr("beyond max_bytes, 16777216"));
        send_object_list(world, large, 1, wide);
        send_object_list(world, deep, 1, wide);
        send_object_list(world, Objects{nested(64)}, 1);
      },
      [](ProcessGroup& world) {
        Objects got;
        const auto receive = [&] { recv_object_list(world, got, 0); };
        EXPECT_THAT(error_text<ObjectError>(receive), HasSubstr("beyond max_bytes, 16777216"));
        EXPECT_THAT(error_text<ObjectError>(receive), HasSubstr("it nests 65 deep, beyond max_depth, 64"));
        receive();
        EXPECT_EQ(got, Objects{nested(64)});
      });
}

TEST(Objects, AListBeyondTheReceiversLimitsIsGoneAndNamed) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      send_object_list(world, Objects{std::string(300, 'x')}, 1);
      send_object_list(world, Objects{std::string(std::size_t{1} << 20, 'x')}, 1);
      send_object_list(world, Objects{nested(9)}, 1);
      send_object_list(world, Objects{"next"}, 1);
      return;
    }
    Objects got{"before"};
    const auto receive = [&](const ObjectOptions& options) {
      return error_text<ObjectError>([&] { recv_object_list(world, got, any_source, options); });
    };
    EXPECT_THAT(receive({.max_bytes = 256}),
                AllOf(HasSubstr("from rank 0"), HasSubstr("beyond max_bytes, 256")));
    EXPECT_THAT(receive({.max_bytes = 256}), HasSubstr("beyond max_bytes"));
    EXPECT_THAT(receive({.max_depth = 8}), HasSubstr("it nests 9 deep"));
    EXPECT_EQ(got, Objects{"before"});
    recv_object_list(world, got, 0);
    EXPECT_EQ(got, Objects{"next"});
  });
}

// As a peer that is no Parley of this version, or malicious, could send them.
TEST(Objects, WhatIsNoListIsAnError) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup raw = raw_lists(world);
    const std::vector<std::string> texts{"{\"a\": [1, 2", "[1] [2]", "\xff", ""};
    if (world.rank() == 0) {
      for (const std::string& text : texts) detail::send_texts(world, std::span(&text, 1), 1, {});
      const std::vector<std::uint8_t> too_few{1, 2, 3};
      raw.send(too_few, 1);
      const std::vector<std::int64_t> too_many{2, 1000};
      raw.send(too_many, 1);
      send_object_list(world, Objects{"good"}, 1);
      return;
    }
    Objects got;
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_THAT(error_text<ObjectError>([&] { recv_object_list(world, got, 0); }),
                  AllOf(HasSubstr("from rank 0"), HasSubstr("no JSON")));
    EXPECT_THAT(error_text<ObjectError>([&] { recv_object_list(world, got, 0); }), HasSubstr("3 bytes"));
    EXPECT_THAT(error_text<ObjectError>([&] { recv_object_list(world, got, 0); }), HasSubstr("announces 2"));
    recv_object_list(world, got, 0);
    EXPECT_EQ(got, Objects{"good"});
  });
}

TEST(Objects, ATimeoutNamesTheLists) {
  run_world(2, [](ProcessGroup& world) {
    Objects list;
    if (world.rank() == 0) {
      EXPECT_THAT(error_text<TimeoutError>(
                      [&] { recv_object_list(world, list, 1, {.timeout = std::chrono::milliseconds(20)}); }),
                  AllOf(HasSubstr("rank 1"), HasSubstr("object lists of the world")));
    }
    world.barrier();
  });
}

// Its announcement is here, but its sender gives no more: it is stopped, its engine locked.
TEST(Objects, ATimeoutCoversAListThatDoesNotArriveWhole) {
  std::latch is_announced(2), is_over(2);
  run_world(2, [&](ProcessGroup& world) {
    if (world.rank() == 1) {
      is_announced.arrive_and_wait();
      Objects list;
      try {
        recv_object_list(world, list, 0, {.timeout = std::chrono::milliseconds(50)});
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_LT(error.details().elapsed, std::chrono::seconds(10)) << error.what();
      }
      return is_over.arrive_and_wait();
    }
    const std::vector<std::byte> large(std::size_t{8} << 20);
    Work work = raw_lists(world).isend(large, 1);
    detail::GroupAccess::state(world)->world->engine->locked([&](transport::Messenger&) {
      is_announced.arrive_and_wait();
      is_over.arrive_and_wait();
    });
    EXPECT_THROW(work.wait(), Error);
  });
}

TEST(Objects, NumbersThatJsonHasNotBecomeNull) {
  run_world(1, [](ProcessGroup& world) {
    const Objects all =
        all_gather_object(world, {std::nan(""), std::numeric_limits<double>::infinity(), 1.5});
    EXPECT_EQ(all, (Objects{{nullptr, nullptr, 1.5}}));
  });
}

TEST(Objects, OfAGroupThatOneIsNotIn) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup other = world.new_group({1 - world.rank()});
    Objects list;
    EXPECT_THROW(send_object_list(other, list, 0), UsageError);
    EXPECT_THROW(recv_object_list(other, list, 0), UsageError);
    EXPECT_THROW(broadcast_object_list(other, list, 0), UsageError);
    EXPECT_THROW(all_gather_object(other, 1), UsageError);
  });
}

}  // namespace
}  // namespace parley
