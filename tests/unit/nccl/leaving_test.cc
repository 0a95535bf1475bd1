// Leaving the world while devices are at what NCCL has told them.
#include <gmock/gmock.h>
#include <parley/log.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/device_path.h"
#include "api/group_state.h"
#include "api/nccl/undertaker.h"
#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NcclLeaving : public SimulatedWorld {
 protected:
  // As it is now, without waiting for a stream.
  float on_device(const Tensor& tensor) { return *reinterpret_cast<float*>(device_.reach(tensor.data(), 4)); }

  // Has device 0 go on after a while.
  std::thread let_go_after(std::chrono::milliseconds pause, std::atomic<bool>& has_let_go) {
    return std::thread([this, pause, &has_let_go] {
      std::this_thread::sleep_for(pause);
      has_let_go = true;
      device_.let_go(cuda::default_stream, 0);
    });
  }
};

TEST_F(NcclLeaving, WaitsForWorkOfAGroupThatIsStillThere) {
  std::atomic<bool> has_let_go{false};
  std::thread later;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 3);
    world.all_reduce(tensor);
    world.barrier();
    if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
    world.barrier();
    for (int i = 0; i < 3; ++i) world.all_reduce(tensor);
    world.barrier();
    if (world.rank() == 0) later = let_go_after(200ms, has_let_go);
    detail::GroupAccess::state(world)->world->leave(wireup::default_linger);
    EXPECT_TRUE(has_let_go);
    EXPECT_EQ(on_device(tensor), 16.0F);
  });
  later.join();
}

// Longer than its end waits for its communicator's.
TEST_F(NcclLeaving, WaitsForWorkOfAGroupThatIsGone) {
  std::atomic<bool> has_let_go{false};
  std::thread later;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 3);
    {
      ProcessGroup pair = world.dup();
      pair.all_reduce(tensor);
      pair.barrier();
      if (world.rank() == 0) device_.hold(cuda::default_stream, 0);
      pair.barrier();
      pair.all_reduce(tensor);
      pair.barrier();
      if (world.rank() == 0) later = let_go_after(1500ms, has_let_go);
    }
    detail::GroupAccess::state(world)->world->leave(wireup::default_linger);
    EXPECT_TRUE(has_let_go);
    EXPECT_EQ(on_device(tensor), 4.0F);
  });
  later.join();
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

// With nothing on the device, leaving is not for peers that keep their groups for longer.
TEST_F(NcclLeaving, DoesNotWaitForPeersThatKeepTheirs) {
  struct OfRank0 {
    transport::Engine* engine;
    std::shared_ptr<wireup::DeviceWork> work;
  };
  std::promise<OfRank0> of_rank_0;
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    ProcessGroup pair = world.dup();
    const Tensor tensor = ones(world, 3);
    pair.all_reduce(tensor);
    (void)last_of<float>(tensor);  // the device has done it
    world.barrier();
    if (world.rank() == 0) {
      const detail::GroupState& group = *detail::GroupAccess::state(pair);
      of_rank_0.set_value({group.world->engine.get(), group.device_path->link->work()});
      pair = {};  // waits for rank 1, too, for a second
    } else {
      const auto [engine, work] = of_rank_0.get_future().get();
      while (nccl_.count(Call::finish) == 0) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(engine->locked([&work = work](transport::Messenger&) { return work->is_done(); }));
      pair = {};
    }
    world.barrier();
  });
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

TEST_F(NcclLeaving, WorkThatIsAbortedForItTookTooLongIsTold) {
  Communicator communicator = nullptr;
  std::byte* memory = nullptr;
  std::vector<std::string> told;
  set_log_sink([&](const LogRecord& record) {
    told.push_back(std::string(record.subsystem) + ": " + std::string(record.message));
    device_.let_go(cuda::default_stream, 0);  // the simulated abort waits for it
  });
  {
    const cuda::DeviceScope scope(device_, 0);
    UniqueId id{};
    ASSERT_EQ(nccl_.make_unique_id(id), Result::success);
    ASSERT_EQ(nccl_.join(id, {}, communicator), Result::in_progress);
    ASSERT_EQ(nccl_.state(communicator), Result::success);
    ASSERT_EQ(device_.allocate(16, memory), cuda::Code::ok);
    device_.hold(cuda::default_stream, 0);
    (void)nccl_.begin_group();
    (void)nccl_.broadcast(memory, memory, 16, Type::u8, 0, communicator, cuda::default_stream);
    (void)nccl_.end_group();
    Undertaker undertaker(
        nccl_, device_, 0, [] { return false; }, 50ms);
    EXPECT_FALSE(undertaker.work()->is_done());
    undertaker.finish(communicator, true);
    while (!undertaker.work()->is_done()) std::this_thread::sleep_for(1ms);
  }
  set_log_sink({});
  EXPECT_THAT(told,
              ElementsAre(HasSubstr("cuda: an NCCL communicator is aborted, and with it what its device "
                                    "has not done: it has not ended within 50 ms")));
  EXPECT_EQ(nccl_.count(Call::abort), 1U);
  const cuda::DeviceScope scope(device_, 0);
  (void)device_.free(memory);
}

}  // namespace
}  // namespace parley::nccl::testing
