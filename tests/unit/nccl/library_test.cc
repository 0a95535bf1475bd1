// What opening NCCL says where it cannot be used, and what its calls come to.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "api/nccl/shared_library.h"

namespace parley::nccl {
namespace {

std::string reason_against(const char* name, const char* version) {
  setenv("PRETENDED_VERSION", version, 1);
  const OpenedLibrary opened = open_library(name);
  EXPECT_EQ(opened.library, nullptr);
  return opened.reason;
}

TEST(NcclLibrary, IsNotFound) {
  EXPECT_EQ(open_library("/nowhere/libnccl.so.2").reason,
            "/nowhere/libnccl.so.2 was not found: NCCL is not installed here");
}

TEST(NcclLibrary, IsNoLibrary) {
  EXPECT_EQ(open_library("/dev/null").reason.find("/dev/null cannot be opened: "), 0U);
}

TEST(NcclLibrary, IsTooOldEvenIfFunctionsAreMissing) {
  for (const char* name : {COMPLETE_NCCL, INCOMPLETE_NCCL})
    EXPECT_EQ(reason_against(name, "21700"),
              "NCCL is too old: it is of version 2.17.0, and Parley needs 2.18.1");
}

TEST(NcclLibrary, LacksAFunction) {
  EXPECT_EQ(reason_against(INCOMPLETE_NCCL, "22809"),
            INCOMPLETE_NCCL " has no function ncclGetErrorString: it is no NCCL that Parley knows");
}

TEST(NcclLibrary, TellsItsVersionAndHowCallsCameOut) {
  setenv("PRETENDED_VERSION", "23001", 1);
  const OpenedLibrary opened = open_library(COMPLETE_NCCL);
  ASSERT_NE(opened.library, nullptr) << opened.reason;
  EXPECT_EQ(opened.library->version(), 23001);
  setenv("PRETENDED_ncclGroupStart", "7", 1);
  EXPECT_EQ(opened.library->begin_group(), Result::in_progress);
  setenv("PRETENDED_ncclGroupEnd", "6", 1);
  EXPECT_EQ(opened.library->end_group(), Result::remote_error);
  EXPECT_EQ(opened.library->state(nullptr), Result::success);
  setenv("PRETENDED_ncclCommGetAsyncError", "3", 1);
  EXPECT_EQ(opened.library->state(nullptr), Result::internal_error);
}

}  // namespace
}  // namespace parley::nccl
