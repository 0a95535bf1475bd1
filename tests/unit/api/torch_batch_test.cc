// What torch.distributed says of batches and object lists, sentence by sentence, and what Parley does: the
// same, or better. Groups, sends and receives: torch_semantics_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/objects.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <string>
#include <vector>

#include "tests/unit/api/error_text.h"
#include "tests/unit/api/pair.h"

namespace parley {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::run_pair;
using testing::run_world;
using Objects = std::vector<Object>;

// ---- P2POp, batch_isend_irecv

// "op must be isend or irecv": Parley's compiler says so, but for a forced one.
TEST(TorchBatch, AnOperationIsASendOrAReceive) {
  run_world(1, [](ProcessGroup& world) {
    int value = 0;
    const P2POp op{static_cast<P2POp::Kind>(5), std::span(&value, 1), 0};
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.batch_isend_irecv({op}); }),
                HasSubstr("operation 0: it is neither isend nor irecv"));
  });
}

// "All ops need to use the same group." Parley: a batch may span groups: batch_test.cc. "An empty list is an
// IndexError." Parley: a UsageError.
TEST(TorchBatch, AnEmptyBatchIsAnError) {
  run_world(1, [](ProcessGroup& world) {
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.batch_isend_irecv(std::vector<P2POp>()); }),
                HasSubstr("no operations"));
  });
}

// "Returns one Work per op, in order" (Gloo), or one for all (NCCL). Parley: one per operation.
TEST(TorchBatch, ThereIsAWorkForEachOperation) {
  run_world(1, [](ProcessGroup& world) {
    const int out = 2;
    int in = 0;
    std::vector<Work> works = world.batch_isend_irecv(
        {{P2POp::irecv, std::span(&in, 1), 0}, {P2POp::isend, std::span(&out, 1), 0}});
    ASSERT_EQ(works.size(), 2U);
    EXPECT_EQ(works[0].wait().source, 0);
    wait_all(works);
    EXPECT_EQ(in, 2);
  });
}

// "The order of the operations must match the remote end." Parley: they match by source and tag.
TEST(TorchBatch, TheRemoteOrderMayDiffer) {
  run_world(2, [](ProcessGroup& world) {
    const int peer = 1 - world.rank();
    const int one = 1, two = 2;
    int got_one = 0, got_two = 0;
    const Tensor out_1(std::span(&one, 1)), out_2(std::span(&two, 1));
    const Tensor in_1(std::span(&got_one, 1)), in_2(std::span(&got_two, 1));
    std::vector<Work> works =
        world.rank() == 0
            ? world.batch_isend_irecv({{P2POp::isend, out_1, peer, 1}, {P2POp::isend, out_2, peer, 2}})
            : world.batch_isend_irecv({{P2POp::irecv, in_2, peer, 2}, {P2POp::irecv, in_1, peer, 1}});
    wait_all(works);
    EXPECT_EQ(10 * got_one + got_two, world.rank() == 0 ? 0 : 12);
  });
}

// "If it is the group's first call, all ranks must participate" (NCCL), and 256 operations may hang. Parley:
// who takes part takes part, however many they are.
TEST(TorchBatch, MayBeLargeAndOfSomeRanks) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() == 2) return;
    constexpr std::size_t count = 600;
    std::vector<int> out(count, world.rank()), in(count, -1);
    std::vector<P2POp> ops;
    for (std::size_t i = 0; i < count; ++i) {
      ops.push_back({P2POp::isend, std::span(&out[i], 1), 1 - world.rank()});
      ops.push_back({P2POp::irecv, std::span(&in[i], 1), 1 - world.rank()});
    }
    std::vector<Work> works = world.batch_isend_irecv(ops);
    wait_all(works);
    EXPECT_EQ(in, std::vector<int>(count, 1 - world.rank()));
  });
}

// "Rank r is not part of group g": a warning, and nothing is done. Parley: an error.
TEST(TorchBatch, OfAGroupOfOthersIsAnError) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup other = world.new_group({1 - world.rank()}, {.name = "other"});
    int value = 0;
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)other.batch_isend_irecv({{P2POp::irecv, std::span(&value, 1), 0}});
                }),
                HasSubstr("of the world is not in group \"other\""));
  });
}

// ---- object lists

// "send_object_list: a rank may not send to itself", as for tensors. Parley: a copy.
TEST(TorchObjects, ARankMaySendToItself) {
  run_world(2, [](ProcessGroup& world) {
    const Objects sent{"to", world.rank()};
    send_object_list(world, sent, world.rank());
    Objects got;
    EXPECT_EQ(recv_object_list(world, got, world.rank()), world.rank());
    EXPECT_EQ(got, sent);
  });
}

// "Rank r is not part of group g": a warning, and nothing is done. Parley: an error.
TEST(TorchObjects, OfAGroupOfOthersAreAnError) {
  run_world(2, [](ProcessGroup& world) {
    ProcessGroup other = world.new_group({1 - world.rank()}, {.name = "other"});
    const std::string expected = "of the world is not in group \"other\"";
    Objects list{1};
    EXPECT_THAT(error_text<UsageError>([&] { send_object_list(other, list, 0); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { recv_object_list(other, list, 0); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { broadcast_object_list(other, list, 0); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)gather_object(other, 1, 0); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)all_gather_object(other, 1); }), HasSubstr(expected));
    EXPECT_THAT(error_text<UsageError>([&] { (void)scatter_object_list(other, list, 0); }),
                HasSubstr(expected));
  });
}

// "An empty list fails." Parley: it is a list, too.
TEST(TorchObjects, AnEmptyListIsAList) {
  run_pair([](ProcessGroup& world) { send_object_list(world, Objects{}, 1); },
           [](ProcessGroup& world) {
             Objects got{1};
             recv_object_list(world, got, 0);
             EXPECT_TRUE(got.empty());
           });
}

// "The list must be pre-sized." Parley: it takes the size of what comes.
TEST(TorchObjects, AListTakesTheSizeOfWhatComes) {
  run_pair(
      [](ProcessGroup& world) {
        send_object_list(world, Objects{"hello", 123, {1, 2, 3}}, 1);
      },
      [](ProcessGroup& world) {
        Objects got;
        recv_object_list(world, got, 0);
        EXPECT_EQ(got, (Objects{"hello", 123, {1, 2, 3}}));
      });
}

// "recv_object_list returns the sender's rank"; "src=None: any rank", whose second message once came from
// another.
TEST(TorchObjects, AListTellsItsSource) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() != 0) return send_object_list(world, Objects{world.rank()}, 0);
    for (int i = 0; i < 2; ++i) {
      Objects got;
      const int source = recv_object_list(world, got, any_source);
      EXPECT_EQ(got, Objects{source});
    }
  });
}

// "Unpickling runs what the sender wants." Parley: JSON text, which is data.
TEST(TorchObjects, WhatComesIsData) {
  run_pair([](ProcessGroup& world) { send_object_list(world, Objects{"__import__('os').abort()"}, 1); },
           [](ProcessGroup& world) {
             Objects got;
             recv_object_list(world, got, 0);
             EXPECT_TRUE(got.front().is_string());
           });
}

// "broadcast_object_list: lists of the same size on all ranks." Parley: elsewhere it takes the source's size.
TEST(TorchObjects, ABroadcastSizesTheLists) {
  run_world(3, [](ProcessGroup& world) {
    Objects list(static_cast<std::size_t>(world.rank()), "replaced");
    if (world.rank() == 1) list = {"a", {{"b", 2}}};
    broadcast_object_list(world, list, 1);
    EXPECT_EQ(list, (Objects{"a", {{"b", 2}}}));
  });
}

// "gather_object: the destination must pass a list of world size, the others none." Parley: it is returned.
TEST(TorchObjects, AGatherReturnsTheList) {
  run_world(3, [](ProcessGroup& world) {
    const Objects all = gather_object(world, world.rank(), 2);
    EXPECT_EQ(all, world.rank() == 2 ? (Objects{0, 1, 2}) : Objects{});
  });
}

// "scatter_object_list: the source must pass a list of world size." Parley: the others are told if it does
// not.
TEST(TorchObjects, AScatterTakesOneObjectForEachRank) {
  run_world(2, [](ProcessGroup& world) {
    const auto scatter_three = [&] { (void)scatter_object_list(world, Objects{1, 2, 3}, 0); };
    if (world.rank() == 0) {
      EXPECT_THAT(error_text<UsageError>(scatter_three), HasSubstr("3 objects for 2 ranks"));
    } else {
      EXPECT_THAT(error_text<ObjectError>(scatter_three), HasSubstr("from rank 0 ("));
    }
    EXPECT_EQ(scatter_object_list(world, Objects{"zero", "one"}, 0), world.rank() == 0 ? "zero" : "one");
  });
}

}  // namespace
}  // namespace parley
