// Each call hands on to NCCL what it was given, in NCCL's order, and returns what NCCL said.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/nccl/library.h"
#include "api/nccl/shared_library.h"

namespace parley::nccl {
namespace {

template <typename Pointer>
Pointer at(std::uintptr_t number) {
  return reinterpret_cast<Pointer>(number);
}
const void* const from = at<const void*>(1);
void* const to = at<void*>(2);
const auto comm = at<Communicator>(4);
const auto stream = at<cuda::Stream>(5);

class Calls : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("PRETENDED_VERSION", "22809", 1);
    unsetenv("PRETENDED_RESULT");
    unsetenv("PRETENDED_STATE");
    opened_ = open_library(COMPLETE_NCCL);
    ASSERT_NE(opened_.library, nullptr) << opened_.reason;
    (void)calls();
  }

  Library& nccl() { return *opened_.library; }
  static std::string calls() { return ask("pretended_calls"); }
  static std::string name() { return ask("pretended_name"); }

 private:
  static std::string ask(const char* function) {
    // That one which is open already, and stays so.
    void* const library = dlopen(COMPLETE_NCCL, RTLD_NOW | RTLD_NOLOAD);
    const char* const text = reinterpret_cast<const char* (*)()>(dlsym(library, function))();
    return text != nullptr ? text : "none";
  }

  OpenedLibrary opened_;
};

TEST_F(Calls, AnIdIsCopiedWhole) {
  UniqueId id{};
  EXPECT_EQ(nccl().make_unique_id(id), Result::success);
  EXPECT_EQ(id.front(), std::byte{7});
  EXPECT_EQ(id.back(), std::byte{8});
  Communicator made = nullptr;
  EXPECT_EQ(nccl().join(id, {.rank = 1, .ranks = 3, .name = "world"}, made), Result::success);
  EXPECT_EQ(made, at<Communicator>(40));
  // Ranks, last byte of the id, rank; it does not block, and its children have resources of their own.
  EXPECT_EQ(calls(), "ncclGetUniqueId\nncclCommInitRankConfig 3 8 1 0 0\n");
}

TEST_F(Calls, ASplitHasTheColorTheKeyAndTheSameConfiguration) {
  Communicator child = nullptr;
  EXPECT_EQ(nccl().split(comm, {.color = 5, .key = 2, .name = "half"}, child), Result::success);
  EXPECT_EQ(child, at<Communicator>(40));
  if (name() != "none") {
    EXPECT_EQ(name(), "half");
  }
  EXPECT_EQ(nccl().split(comm, {}, child), Result::success);
  EXPECT_EQ(calls(),
            "ncclCommSplit 4 5 2 0 0\nncclCommGetAsyncError 4\n"
            "ncclCommSplit 4 -1 0 0 0\nncclCommGetAsyncError 4\n");
}

// NCCL says success, and has only begun.
TEST_F(Calls, ASplitIsUnderWayAsLongAsItsParentIs) {
  Communicator child = nullptr;
  ::setenv("PRETENDED_STATE", "7", 1);
  EXPECT_EQ(nccl().split(comm, {}, child), Result::in_progress);
  ::unsetenv("PRETENDED_STATE");
}

// NCCL reads it later, in a thread of its own.
TEST_F(Calls, ANameOutlivesTheCallersAndTheCommunicator) {
  std::string own = "a group of quite some name";
  Communicator made = nullptr;
  (void)nccl().join({}, {.name = own.c_str()}, made);
  if (name() == "none") GTEST_SKIP() << "this nccl.h knows no names";
  own.assign(own.size(), '-');
  (void)nccl().destroy(made);
  EXPECT_EQ(name(), "a group of quite some name");
  (void)nccl().join({}, {}, made);
  EXPECT_EQ(name(), "none");
}

TEST_F(Calls, TheStateIsThatOfTheCommunicator) {
  EXPECT_EQ(nccl().state(comm), Result::success);
  setenv("PRETENDED_STATE", "7", 1);
  EXPECT_EQ(nccl().state(comm), Result::in_progress);
  setenv("PRETENDED_RESULT", "4", 1);
  EXPECT_EQ(nccl().state(comm), Result::invalid_argument) << "the question itself failed";
}

TEST_F(Calls, EndsAndGroupsAreHandedOn) {
  EXPECT_EQ(nccl().finish(comm), Result::success);
  EXPECT_EQ(nccl().destroy(comm), Result::success);
  EXPECT_EQ(nccl().abort(comm), Result::success);
  EXPECT_EQ(nccl().begin_group(), Result::success);
  EXPECT_EQ(nccl().end_group(), Result::success);
  EXPECT_EQ(calls(),
            "ncclCommFinalize 4\nncclCommDestroy 4\nncclCommAbort 4\nncclGroupStart\nncclGroupEnd\n");
}

TEST_F(Calls, CollectivesAreHandedOn) {
  (void)nccl().all_reduce(from, to, 10, Type::f32, Fold::max, comm, stream);
  (void)nccl().reduce(from, to, 11, Type::bf16, Fold::min, 3, comm, stream);
  (void)nccl().broadcast(from, to, 12, Type::u8, 3, comm, stream);
  (void)nccl().all_gather(from, to, 13, Type::f64, comm, stream);
  (void)nccl().reduce_scatter(from, to, 14, Type::i64, Fold::product, comm, stream);
  (void)nccl().send(from, 15, Type::f16, 3, comm, stream);
  (void)nccl().receive(to, 16, Type::i8, 3, comm, stream);
  EXPECT_EQ(calls(),
            "ncclAllReduce 1 2 10 7 2 4 5\n"
            "ncclReduce 1 2 11 9 3 3 4 5\n"
            "ncclBroadcast 1 2 12 1 3 4 5\n"
            "ncclAllGather 1 2 13 8 4 5\n"
            "ncclReduceScatter 1 2 14 4 1 4 5\n"
            "ncclSend 1 15 6 3 4 5\n"
            "ncclRecv 2 16 0 3 4 5\n");
}

TEST_F(Calls, AScaledSumIsAFoldOfItsOwn) {
  Fold fold = Fold::sum;
  EXPECT_EQ(nccl().make_scaled_sum(from, Type::f32, comm, fold), Result::success);
  EXPECT_EQ(static_cast<int>(fold), 21);
  EXPECT_EQ(nccl().drop_scaled_sum(fold, comm), Result::success);
  // 1: the factor is read before the call returns.
  EXPECT_EQ(calls(), "ncclRedOpCreatePreMulSum 1 7 1 4\nncclRedOpDestroy 21 4\n");
}

TEST_F(Calls, WhatNcclSaysIsReturned) {
  setenv("PRETENDED_RESULT", "7", 1);
  Communicator made = nullptr;
  EXPECT_EQ(nccl().join({}, {}, made), Result::in_progress);
  EXPECT_EQ(nccl().end_group(), Result::in_progress);
  setenv("PRETENDED_RESULT", "6", 1);
  EXPECT_EQ(nccl().send(from, 1, Type::i8, 0, comm, stream), Result::remote_error);
  setenv("PRETENDED_RESULT", "8", 1);
  EXPECT_TRUE(has_failed(nccl().abort(comm))) << "one that only newer ones know: a timeout";
}

}  // namespace
}  // namespace parley::nccl
