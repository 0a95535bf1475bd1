#include "tests/simulated_nccl/simulated_nccl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/simulated_nccl/fold.h"
#include "transport/base/log.h"

namespace parley::nccl::testing {

using base::concat;

SimulatedNccl::SimulatedNccl(cuda::testing::SimulatedDevice& device, Fabric& fabric)
    : device_(device), fabric_(fabric) {
  device_.add_kernel("simulated_nccl",
                     [this](std::span<const std::byte> arguments, const cuda::testing::KernelMemory& memory) {
                       run_kernel(arguments, memory);
                     });
}

namespace {

// Waits until the device has done all that was enqueued for it.
void wait_for_kernels(const Member& member) {
  constexpr auto longest = std::chrono::seconds(10);
  const auto until = std::chrono::steady_clock::now() + longest;
  while (member.has_kernels() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

}  // namespace

SimulatedNccl::~SimulatedNccl() {
  std::vector<std::shared_ptr<Member>> members;
  {
    const Lock lock(mutex_);
    for (auto& [name, owned] : communicators_) members.push_back(owned.member);
  }
  for (auto& member : members) member->is_aborted = true;
  for (auto& member : members) wait_for_kernels(*member);
}

void SimulatedNccl::fail_next(Call call, Result result, int times) {
  const Lock lock(mutex_);
  failures_[static_cast<std::size_t>(call)].insert(failures_[static_cast<std::size_t>(call)].end(),
                                                   static_cast<std::size_t>(times), result);
}

void SimulatedNccl::fail_asynchronously(Result result) {
  const Lock lock(mutex_);
  asynchronous_failure_ = result;
}

void SimulatedNccl::fail_newest(Result result) {
  const Lock lock(mutex_);
  if (!communicators_.empty()) communicators_.rbegin()->second.failure = result;  // named in their order
}

void SimulatedNccl::launch_in_background(int looks, int times) {
  const Lock lock(mutex_);
  background_looks_ = looks;
  background_launches_ = times;
}

std::uint64_t SimulatedNccl::count(Call call) const {
  const Lock lock(mutex_);
  return counts_[static_cast<std::size_t>(call)];
}

std::size_t SimulatedNccl::live_communicators() const {
  const Lock lock(mutex_);
  return communicators_.size();
}

std::size_t SimulatedNccl::live_scaled_sums() const {
  const Lock lock(mutex_);
  return scaled_sums_.size();
}

std::vector<std::string> SimulatedNccl::violations() const {
  const Lock lock(mutex_);
  return violations_;
}

std::vector<Operation> SimulatedNccl::operations() const {
  const Lock lock(mutex_);
  return operations_;
}

std::string SimulatedNccl::describe(Result result) const {
  return concat("simulated (NCCL error ", static_cast<int>(result), ")");
}

// Counts the call; fails it if it is to fail.
Result SimulatedNccl::begin(Call call) {
  ++counts_[static_cast<std::size_t>(call)];
  auto& failures = failures_[static_cast<std::size_t>(call)];
  if (failures.empty()) return Result::success;
  const Result result = failures.front();
  failures.pop_front();
  return result;
}

Result SimulatedNccl::violate(std::string what) {
  violations_.push_back(std::move(what));
  return Result::invalid_usage;
}

// Null, and a violation: it is not there, or not its device is entered.
SimulatedNccl::Owned* SimulatedNccl::find(Communicator communicator, const char* call) {
  const auto found = communicators_.find(communicator);
  if (found == communicators_.end()) {
    (void)violate(concat(call, " of a communicator that is not there"));
    return nullptr;
  }
  if (device_.current_device() != found->second.member->device)
    (void)violate(concat(call, " without its device entered"));
  return &found->second;
}

Result SimulatedNccl::state(Communicator communicator) noexcept {
  const Lock lock(mutex_);
  Owned* const owned = find(communicator, "state");
  if (owned == nullptr) return Result::invalid_argument;
  if (const Result refused = begin(Call::state); refused != Result::success) return refused;
  const Result failure = asynchronous_failure_ != Result::success ? asynchronous_failure_ : owned->failure;
  if (failure != Result::success) {
    fail_split(*owned);
    owned->phase = Phase::failed;
  }
  const Member& member = *owned->member;
  const auto members = std::span(member.meeting.members).first(static_cast<std::size_t>(member.ranks));
  switch (owned->phase) {
    case Phase::joining: {
      const bool are_all_there = std::all_of(members.begin(), members.end(), [](const auto& each) {
        return each.is_there.load(std::memory_order_acquire);
      });
      if (fabric_.holds_joins || !are_all_there) return Result::in_progress;
      owned->phase = Phase::ready;
      for (const auto& one : members)
        for (const auto& other : members)
          if (&one != &other && one.device == other.device) owned->phase = Phase::failed;
      return owned->phase == Phase::failed ? Result::invalid_usage : Result::success;
    }
    case Phase::launching:
      if (owned->looks_left > 0) --owned->looks_left;
      if (owned->looks_left > 0 || !are_connected(*owned->member, owned->launched))
        return Result::in_progress;
      owned->phase = Phase::ready;
      return launch(*owned, std::exchange(owned->launched, {}));
    case Phase::splitting: return look_at_split(*owned);
    case Phase::finishing: {
      const bool have_all_finished = std::all_of(members.begin(), members.end(), [](const auto& each) {
        return each.has_finished.load(std::memory_order_acquire);
      });
      if (!have_all_finished || member.has_kernels()) return Result::in_progress;
      owned->phase = Phase::finished;
      return Result::success;
    }
    case Phase::failed: return failure != Result::success ? failure : Result::invalid_usage;
    case Phase::ready:
    case Phase::finished: break;
  }
  return Result::success;
}

Result SimulatedNccl::finish(Communicator communicator) noexcept {
  const Lock lock(mutex_);
  Owned* const owned = find(communicator, "finish");
  if (owned == nullptr) return Result::invalid_argument;
  if (const Result failure = begin(Call::finish); failure != Result::success) return failure;
  if (owned->phase != Phase::ready) return violate("finish of a communicator that is not ready");
  owned->phase = Phase::finishing;
  owned->member->meeting.members[static_cast<std::size_t>(owned->member->rank)].has_finished = true;
  return Result::in_progress;
}

Result SimulatedNccl::destroy(Communicator communicator) noexcept {
  const Lock lock(mutex_);
  Owned* const owned = find(communicator, "destroy");
  if (owned == nullptr) return Result::invalid_argument;
  if (const Result failure = begin(Call::destroy); failure != Result::success) return failure;
  if (owned->phase != Phase::finished) (void)violate("destroy of a communicator that has not finished");
  communicators_.erase(communicator);
  return Result::success;
}

// Ends when the device has let go of it.
Result SimulatedNccl::abort(Communicator communicator) noexcept {
  std::shared_ptr<Member> member;
  {
    const Lock lock(mutex_);
    Owned* const owned = find(communicator, "abort");
    if (owned == nullptr) return Result::invalid_argument;
    if (const Result failure = begin(Call::abort); failure != Result::success) return failure;
    member = owned->member;
    member->is_aborted = true;
    fail_split(*owned);
    communicators_.erase(communicator);
  }
  wait_for_kernels(*member);
  return Result::success;
}

SimulatedNccl::Group& SimulatedNccl::group_of_thread() {
  thread_local Group group;
  return group;
}

Result SimulatedNccl::begin_group() noexcept {
  const Lock lock(mutex_);
  if (const Result failure = begin(Call::begin_group); failure != Result::success) return failure;
  ++group_of_thread().depth;
  return Result::success;
}

Result SimulatedNccl::end_group() noexcept {
  const Lock lock(mutex_);
  Group& group = group_of_thread();
  if (group.depth == 0) return violate("end_group without begin_group");
  if (--group.depth > 0) return Result::success;
  const Group told = std::exchange(group, {});
  if (const Result failure = begin(Call::end_group); failure != Result::success) return failure;
  if (told.operations.empty()) return Result::success;
  Owned* const owned = find(told.communicator, "end_group");
  if (owned == nullptr) return Result::invalid_argument;
  if (owned->phase != Phase::ready) return violate("work for a communicator that is not ready");
  if (!meets_itself(*owned->member, told.operations)) return Result::invalid_usage;
  connect(*owned->member, told.operations);
  const bool is_late = background_launches_ > 0;
  if (!is_late && are_connected(*owned->member, told.operations)) return launch(*owned, told.operations);
  if (is_late) --background_launches_;
  owned->phase = Phase::launching;
  owned->looks_left = is_late ? background_looks_ : 0;
  owned->launched = told.operations;
  return Result::in_progress;
}

void SimulatedNccl::check_buffer(const void* address, std::size_t bytes, const Member& member) {
  if (bytes == 0) return;
  cuda::PointerFacts facts;
  (void)device_.facts_of(address, facts);
  if (facts.type != cuda::MemoryType::device || facts.device != member.device)
    (void)violate("a buffer that is not of the communicator's device");
}

// What NCCL says of the arguments.
void SimulatedNccl::check(const Operation& operation, const Member& member) {
  const std::size_t bytes = operation.count * size_of(operation.type);
  const auto all = static_cast<std::size_t>(member.ranks);
  const bool is_root = operation.peer == member.rank;
  if (operation.peer < 0 || operation.peer >= member.ranks) (void)violate("a rank that is out of range");
  if (operation.kind != Kind::receive && (operation.kind != Kind::broadcast || is_root))
    check_buffer(operation.from, operation.kind == Kind::reduce_scatter ? bytes * all : bytes, member);
  if (operation.kind != Kind::send && (operation.kind != Kind::reduce || is_root))
    check_buffer(operation.to, operation.kind == Kind::all_gather ? bytes * all : bytes, member);
  // As numbers: what a rank does not use may be null.
  const auto from = reinterpret_cast<std::uintptr_t>(operation.from);
  const auto to = reinterpret_cast<std::uintptr_t>(operation.to);
  const auto mine = static_cast<std::size_t>(member.rank) * bytes;
  const bool overlaps = from < to + (operation.kind == Kind::all_gather ? bytes * all : bytes) &&
                        to < from + (operation.kind == Kind::reduce_scatter ? bytes * all : bytes);
  if (operation.is_message() || !overlaps || (operation.kind == Kind::broadcast && !is_root)) return;
  const bool is_in_place = operation.kind == Kind::all_gather       ? from == to + mine
                           : operation.kind == Kind::reduce_scatter ? to == from + mine
                                                                    : from == to;
  if (!is_in_place) (void)violate("buffers that overlap, and not in place");
}

Result SimulatedNccl::add(Communicator communicator, Operation operation) {
  Owned* const owned = find(communicator, "an operation");
  if (owned == nullptr) return Result::invalid_argument;
  check(operation, *owned->member);
  if (static_cast<int>(operation.fold) >= 100) {
    const auto scaled = scaled_sums_.find(operation.fold);
    if (scaled == scaled_sums_.end()) return violate("a scaled sum that is not there");
    operation.factor = scaled->second;
    operation.fold = Fold::sum;
  }
  Group& group = group_of_thread();
  if (group.depth == 0) return violate("an operation outside of a group");  // NCCL's own has one around it
  group.communicator = communicator;
  group.operations.push_back(std::move(operation));
  return Result::success;
}

Result SimulatedNccl::launch(Owned& owned, std::vector<Operation> operations) {
  const cuda::Stream stream = operations.front().stream;
  operations_.insert(operations_.end(), operations.begin(), operations.end());
  const std::uint64_t number = next_work_++;
  work_.emplace(number, Work{owned.member, owned.member->launched++, std::move(operations)});
  const cuda::Code code =
      device_.launch({.name = "simulated_nccl", .arguments = std::as_bytes(std::span(&number, 1))}, stream);
  if (code == cuda::Code::ok) return Result::success;
  --owned.member->launched;
  work_.erase(number);
  return Result::unhandled_cuda_error;
}

void SimulatedNccl::run_kernel(std::span<const std::byte> arguments,
                               const cuda::testing::KernelMemory& memory) {
  std::uint64_t number = 0;
  std::memcpy(&number, arguments.data(), sizeof(number));
  Work work;
  {
    const Lock lock(mutex_);
    work = std::move(work_.extract(number).mapped());
  }
  struct Ended {
    Member& member;
    ~Ended() { ++member.ended; }
  } const ended{*work.member};
  perform(*work.member, work.turn, work.operations, memory);
}

Result SimulatedNccl::all_reduce(const void* from, void* to, std::size_t count, Type type, Fold fold,
                                 Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::all_reduce, from, to, count, type, fold, {}, 0, stream});
}

Result SimulatedNccl::reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, int root,
                             Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::reduce, from, to, count, type, fold, {}, root, stream});
}

Result SimulatedNccl::broadcast(const void* from, void* to, std::size_t count, Type type, int root,
                                Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::broadcast, from, to, count, type, Fold::sum, {}, root, stream});
}

Result SimulatedNccl::all_gather(const void* from, void* to, std::size_t count, Type type,
                                 Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::all_gather, from, to, count, type, Fold::sum, {}, 0, stream});
}

Result SimulatedNccl::reduce_scatter(const void* from, void* to, std::size_t count, Type type, Fold fold,
                                     Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::reduce_scatter, from, to, count, type, fold, {}, 0, stream});
}

Result SimulatedNccl::send(const void* from, std::size_t count, Type type, int peer,
                           Communicator communicator, cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::send, from, nullptr, count, type, Fold::sum, {}, peer, stream});
}

Result SimulatedNccl::receive(void* to, std::size_t count, Type type, int peer, Communicator communicator,
                              cuda::Stream stream) noexcept {
  const Lock lock(mutex_);
  return add(communicator, {Kind::receive, nullptr, to, count, type, Fold::sum, {}, peer, stream});
}

Result SimulatedNccl::make_scaled_sum(const void* factor, Type type, Communicator communicator,
                                      Fold& fold) noexcept {
  const Lock lock(mutex_);
  if (const Result failure = begin(Call::make_scaled_sum); failure != Result::success) return failure;
  if (find(communicator, "make_scaled_sum") == nullptr) return Result::invalid_argument;
  fold = static_cast<Fold>(next_fold_++);
  const auto* const bytes = static_cast<const std::byte*>(factor);
  scaled_sums_.emplace(fold, std::vector<std::byte>(bytes, bytes + size_of(type)));
  return Result::success;
}

Result SimulatedNccl::drop_scaled_sum(Fold fold, Communicator communicator) noexcept {
  const Lock lock(mutex_);
  if (const Result failure = begin(Call::drop_scaled_sum); failure != Result::success) return failure;
  if (find(communicator, "drop_scaled_sum") == nullptr) return Result::invalid_argument;
  return scaled_sums_.erase(fold) == 1 ? Result::success : violate("a scaled sum that is not there");
}

}  // namespace parley::nccl::testing
