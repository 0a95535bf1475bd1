// What opening NCCL says where it cannot be used, and how its failures are told.
#include "api/nccl/library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "api/nccl/shared_library.h"

namespace parley::nccl {
namespace {

OpenedLibrary open_pretended(const char* library, const char* version) {
  setenv("PRETENDED_VERSION", version, 1);
  return open_library(library);
}

std::string reason_against(const char* library, const char* version) {
  const OpenedLibrary opened = open_pretended(library, version);
  EXPECT_EQ(opened.library, nullptr);
  return opened.reason;
}

TEST(Library, IsNotFound) {
  EXPECT_EQ(open_library("/nowhere/libnccl.so.2").reason,
            "/nowhere/libnccl.so.2 was not found: NCCL is not installed here");
}

TEST(Library, IsNoLibrary) {
  EXPECT_EQ(open_library("/dev/null").reason.find("/dev/null cannot be opened: "), 0u);
}

TEST(Library, IsTooOldEvenIfFunctionsAreMissing) {
  for (const char* library : {COMPLETE_NCCL, INCOMPLETE_NCCL})
    EXPECT_EQ(reason_against(library, "21701"),
              "NCCL is too old: it is of version 2.17.1, and Parley needs 2.18.1");
}

TEST(Library, LacksAFunction) {
  EXPECT_EQ(reason_against(INCOMPLETE_NCCL, "21801"),
            INCOMPLETE_NCCL " has no function ncclGetUniqueId: it is no NCCL that Parley knows");
}

TEST(Library, OpensFromTheOldestVersionOn) {
  for (const char* version : {"21801", "22809", "30000"}) {
    const OpenedLibrary opened = open_pretended(COMPLETE_NCCL, version);
    ASSERT_NE(opened.library, nullptr) << opened.reason;
    EXPECT_EQ(opened.reason, "");
    EXPECT_EQ(std::to_string(opened.library->version()), version);
  }
}

TEST(Library, DescribesAFailureInNcclsWordsAndItsLastOnes) {
  const OpenedLibrary opened = open_pretended(COMPLETE_NCCL, "22809");
  ASSERT_NE(opened.library, nullptr) << opened.reason;
  const Library& library = *opened.library;
  unsetenv("PRETENDED_LAST_WORDS");
  EXPECT_EQ(library.describe(Result::system_error), "unhandled system error (NCCL error 2)");
  setenv("PRETENDED_LAST_WORDS", "", 1);
  EXPECT_EQ(library.describe(Result::system_error), "unhandled system error (NCCL error 2)");
  setenv("PRETENDED_LAST_WORDS", "Call to connect failed : Connection refused\n", 1);
  EXPECT_EQ(library.describe(Result::system_error),
            "unhandled system error (NCCL error 2): Call to connect failed : Connection refused");
  // Words are of some failure before, where there is none now.
  EXPECT_EQ(library.describe(Result::in_progress), "of NCCL (NCCL error 7)");
}

// A device is not needed for that.
TEST(Library, OfThisMachineOpens) {
  if (!std::filesystem::exists(MACHINES_NCCL))
    GTEST_SKIP() << "no libnccl.so.2 near nccl.h when this was built";
  const OpenedLibrary opened = open_library(MACHINES_NCCL);
  ASSERT_NE(opened.library, nullptr) << opened.reason;
  EXPECT_GE(opened.library->version(), 21801);
  EXPECT_EQ(opened.library->describe(Result::system_error), "unhandled system error (NCCL error 2)");
  EXPECT_EQ(opened.library->describe(Result::remote_error),
            "remote process exited or there was a network error (NCCL error 6)");
}

}  // namespace
}  // namespace parley::nccl
