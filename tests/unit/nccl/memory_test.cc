// How NCCL's communicators end where there is no memory for a text that says why. In a program of its own,
// for it replaces the global operator new.
#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "api/collective/end_reason.h"
#include "api/device_path.h"
#include "api/group_state.h"
#include "tests/shortage.h"
#include "tests/unit/nccl/split_world.h"
#if PARLEY_TEST_HAS_NCCL
#include <dlfcn.h>

#include "api/nccl/shared_library.h"
#endif

namespace parley::nccl::testing {
namespace {

using collective::EndReason;
using parley::testing::endless;
using parley::testing::Shortage;
using ::testing::HasSubstr;
using transport::Messenger;

const std::string long_text(200, 'x');

TEST(EndReasonMemory, KeepsWhatItIsWithoutItsText) {
  for (const auto kind : {EndReason::Kind::timed_out, EndReason::Kind::died, EndReason::Kind::mismatched}) {
    Shortage::begin({.refusals = endless});
    const std::string encoded = EndReason{kind, long_text}.encoded();
    Shortage::end();
    EXPECT_EQ(EndReason::decode(encoded).kind, kind);
    EXPECT_EQ(EndReason::decode(encoded).text, "");
  }
  Shortage::begin({.refusals = endless});
  const std::string encoded = EndReason{EndReason::Kind::aborted, long_text}.encoded();
  Shortage::end();
  EXPECT_EQ(encoded, "out of memory");
}

class NcclMemory : public SimulatedWorld {
 protected:
  // It is through with what it has called. No collective, which what follows might end.
  static void wait_for_the_other(ProcessGroup& world) {
    const std::vector<int> out(1);
    std::vector<int> in(1);
    world.sendrecv(out, 1 - world.rank(), in, 1 - world.rank());
  }
  // Has rank 0's link end by `end`, without memory. All ranks are told by the next call.
  template <typename End>
  void run(const End& end) {
    parley::testing::run_world(2, [&](ProcessGroup& world) {
      const Tensor tensor = ones(world, 1);
      world.all_reduce(tensor);
      wait_for_the_other(world);
      const auto& group = *detail::GroupAccess::state(world);
      Link& link = *group.device_path->link;
      if (world.rank() == 0) {
        const std::string described = group.world->engine->locked([&](Messenger&) {
          Shortage::begin({.refusals = endless});
          end(link);
          Shortage::end();
          return link.describe();
        });
        EXPECT_EQ(described, "out of memory");
      }
      try {
        for (;;) world.all_reduce(tensor);
      } catch (const AbortedError& error) {
        EXPECT_THAT(error.what(), HasSubstr("out of memory"));
      }
    });
    EXPECT_EQ(nccl_.count(Call::abort), 2U);
  }
};

TEST_F(NcclMemory, AFailure) {
  run([](Link& link) { link.fail(long_text); });
}

TEST_F(NcclMemory, ADeadline) {
  run([](Link& link) { link.give_up(long_text); });
}

// The device is at it, and the abort finds the watch over it.
TEST_F(NcclMemory, AnAbort) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    world.barrier();
    world.all_reduce(tensor);
    wait_for_the_other(world);
    const auto& group = *detail::GroupAccess::state(world);
    Link& link = *group.device_path->link;
    if (world.rank() == 0) {
      const std::string described = group.world->engine->locked([&](Messenger& messenger) {
        (void)messenger.abort_context(group.all_contexts.collectives, 0, "enough");
        Shortage::begin({.refusals = endless});
        link.advance();
        Shortage::end();
        return link.describe();
      });
      EXPECT_EQ(described, "out of memory");
      device_.let_go(cuda::default_stream, 0);
    }
    EXPECT_THROW(
        {
          for (;;) world.barrier();
        },
        AbortedError);
  });
  EXPECT_EQ(nccl_.count(Call::abort), 2U);
}

// Of NCCL, which cannot say what has failed.
class Speechless final : public SimulatedNccl {
 public:
  using SimulatedNccl::SimulatedNccl;
  [[nodiscard]] std::string describe(Result) const override { throw std::bad_alloc(); }
};

TEST_F(NcclMemory, AnErrorOfACall) {
  Speechless speechless(device_, *fabric_);
  replace_runtime(&speechless, "");
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 1);
    world.all_reduce(tensor);
    wait_for_the_other(world);
    if (world.rank() == 1) speechless.fail_next(Call::end_group, Result::internal_error);
    try {
      for (;;) world.all_reduce(tensor);
    } catch (const AbortedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out of memory"));
    }
  });
  replace_runtime(&nccl_, "");
}

// It takes part for the others' sake, and asks for no child.
class NcclSplitMemory : public SplitWorld {};

TEST_F(NcclSplitMemory, ARankWithoutALinkForItsChild) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    use(world, device_of(world));
    ProcessGroup twin = twin_of(world);
    const detail::SplitCall call = split_call(world);
    if (world.rank() == 1) Shortage::begin({.refusals = 1});
    split_for(world, twin, call);
    EXPECT_EQ(Shortage::end().refusals, 0);
    EXPECT_EQ(detail::GroupAccess::state(twin)->split_off == nullptr, world.rank() == 1);
    use(twin, device_of(world));
    EXPECT_EQ(twin.describe().find(split_off), std::string::npos);
    use(world, device_of(world));
  });
  EXPECT_EQ(nccl_.count(Call::split), 3U);
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 2U);
}

#if PARLEY_TEST_HAS_NCCL
TEST(NamesMemory, WithoutItACommunicatorHasNoName) {
  setenv("PRETENDED_VERSION", "22809", 1);
  const OpenedLibrary opened = open_library(COMPLETE_NCCL);
  ASSERT_NE(opened.library, nullptr) << opened.reason;
  Communicator made = nullptr;
  Shortage::begin({.refusals = 1});  // the name's: the library needs some of its own
  EXPECT_EQ(opened.library->join({}, {.rank = 0, .ranks = 1, .name = "a group of quite some name"}, made),
            Result::success);
  Shortage::end();
  void* const library = dlopen(COMPLETE_NCCL, RTLD_NOW | RTLD_NOLOAD);
  EXPECT_EQ(reinterpret_cast<const char* (*)()>(dlsym(library, "pretended_name"))(), nullptr);
}
#endif

}  // namespace
}  // namespace parley::nccl::testing
