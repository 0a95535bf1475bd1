#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/nccl/library.h"
#include "tests/simulated_device/simulated_device.h"
#include "tests/simulated_nccl/fabric.h"
#include "tests/simulated_nccl/operation.h"

namespace parley::nccl::testing {

// The calls of a Library, by name. What is enqueued counts as end_group.
enum class Call : std::uint8_t {
  make_unique_id,
  join,
  split,
  state,
  finish,
  destroy,
  abort,
  begin_group,
  end_group,
  make_scaled_sum,
  drop_scaled_sum,
};
inline constexpr std::size_t call_kinds = static_cast<std::size_t>(Call::drop_scaled_sum) + 1;

// NCCL made of a simulated device and of memory that its processes share: README.md. What NCCL forbids and
// does not tell is noted as a violation. Thread-safety: all calls.
class SimulatedNccl : public Library {
 public:
  // Borrows both. In a process that forks, made after the fork.
  SimulatedNccl(cuda::testing::SimulatedDevice& device, Fabric& fabric);
  ~SimulatedNccl() override;

  // For tests
  // ---------------------------------------------------------------------------------------------------

  // The next calls of this kind do nothing and fail so.
  void fail_next(Call call, Result result, int times = 1);
  // From now on state() of every communicator of this process tells it; what is under way goes on.
  void fail_asynchronously(Result result);
  // The same of the communicator that this process has made last.
  void fail_newest(Result result);
  // The next `times` end_group() with operations return in_progress, and the `looks`th state() after that
  // enqueues.
  void launch_in_background(int looks, int times = 1);
  void set_version(int version) { version_ = version; }

  [[nodiscard]] std::uint64_t count(Call call) const;
  [[nodiscard]] std::size_t live_communicators() const;
  [[nodiscard]] std::size_t live_scaled_sums() const;
  // In words, what was called against NCCL's rules.
  [[nodiscard]] std::vector<std::string> violations() const;
  // All that was enqueued so far, in order.
  [[nodiscard]] std::vector<Operation> operations() const;

  // Library
  // ---------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string describe(Result result) const override;
  [[nodiscard]] int version() const noexcept override { return version_; }
  Result make_unique_id(UniqueId& id) noexcept override;
  Result join(const UniqueId& id, const Membership& who, Communicator& communicator) noexcept override;
  Result split(Communicator communicator, const Division& part, Communicator& child) noexcept override;
  Result state(Communicator communicator) noexcept override;
  Result finish(Communicator communicator) noexcept override;
  Result destroy(Communicator communicator) noexcept override;
  Result abort(Communicator communicator) noexcept override;
  Result begin_group() noexcept override;
  Result end_group() noexcept override;
  Result all_reduce(const void* from, void* to, std::size_t count, Type type, Fold fold,
                    Communicator communicator, cuda::Stream stream) noexcept override;
  Result reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, int root,
                Communicator communicator, cuda::Stream stream) noexcept override;
  Result broadcast(const void* from, void* to, std::size_t count, Type type, int root,
                   Communicator communicator, cuda::Stream stream) noexcept override;
  Result all_gather(const void* from, void* to, std::size_t count, Type type, Communicator communicator,
                    cuda::Stream stream) noexcept override;
  Result reduce_scatter(const void* from, void* to, std::size_t count, Type type, Fold fold,
                        Communicator communicator, cuda::Stream stream) noexcept override;
  Result send(const void* from, std::size_t count, Type type, int peer, Communicator communicator,
              cuda::Stream stream) noexcept override;
  Result receive(void* to, std::size_t count, Type type, int peer, Communicator communicator,
                 cuda::Stream stream) noexcept override;
  Result make_scaled_sum(const void* factor, Type type, Communicator communicator,
                         Fold& fold) noexcept override;
  Result drop_scaled_sum(Fold fold, Communicator communicator) noexcept override;

 private:
  enum class Phase : std::uint8_t { joining, ready, launching, splitting, finishing, finished, failed };
  struct Owned {
    std::shared_ptr<Member> member;
    Phase phase = Phase::joining;
    Result failure = Result::success;      // asynchronous, of this one
    int looks_left = 0;                    // launching
    std::vector<Operation> launched = {};  // then
    Division part = {};                    // splitting
    Communicator* child = nullptr;         // where it goes, then
  };
  struct Group {  // of one thread
    int depth = 0;
    Communicator communicator = nullptr;
    std::vector<Operation> operations = {};
  };
  using Lock = std::lock_guard<std::mutex>;

  // All with the mutex held:
  Result begin(Call call);
  Result violate(std::string what);
  Owned* find(Communicator communicator, const char* call);
  Result add(Communicator communicator, Operation operation);
  Result launch(Owned& owned, std::vector<Operation> operations);
  Communicator add_member(Meeting& meeting, int rank, int ranks, int device);
  Result look_at_split(Owned& owned);
  void fail_split(Owned& owned);
  void check(const Operation& operation, const Member& member);
  void check_buffer(const void* address, std::size_t bytes, const Member& member);

  static Group& group_of_thread();
  void run_kernel(std::span<const std::byte> arguments, const cuda::testing::KernelMemory& memory);

  cuda::testing::SimulatedDevice& device_;
  Fabric& fabric_;
  int version_ = 22809;

  mutable std::mutex mutex_;  // guards all below
  std::array<std::uint64_t, call_kinds> counts_{};
  std::array<std::deque<Result>, call_kinds> failures_;
  std::vector<std::string> violations_;
  std::vector<Operation> operations_;
  Result asynchronous_failure_ = Result::success;
  int background_looks_ = 0;
  int background_launches_ = 0;
  std::uintptr_t next_name_ = 1;
  std::map<Communicator, Owned> communicators_;
  int next_fold_ = 100;
  std::map<Fold, std::vector<std::byte>> scaled_sums_;
  struct Work {
    std::shared_ptr<Member> member;
    std::uint64_t turn = 0;  // kernels of the member before it
    std::vector<Operation> operations;
  };
  std::uint64_t next_work_ = 1;
  std::map<std::uint64_t, Work> work_;  // enqueued, not begun
};

}  // namespace parley::nccl::testing
