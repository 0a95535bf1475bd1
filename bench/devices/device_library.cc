#include "bench/devices/device_library.h"

#include <parley/tensor.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "bench/bandwidth.h"
#include "bench/devices/device_system.h"
#include "bench/devices/figures.h"
#include "bench/slowed.h"

namespace parley::bench {
namespace {

// A view of device memory that is like the image.
template <typename Element>
Tensor tensor_on(RankDevice& device, std::byte* memory, std::span<Element> image) {
  return Tensor::from_blob(memory, image.size(), dtype_of<Element>, {},
                           Device{Device::cuda, device.number()});
}

cuda::DeviceId id_of(RankDevice& device, int number) {
  cuda::DeviceId id{};
  device.require(device.api().device_id(number, id), "asking for its id");
  return id;
}

// The number of that device in this process; if it is not visible here, the rank's own.
int number_of(RankDevice& device, const cuda::DeviceId& id) {
  for (int number = 0; number < device.api().device_count(); ++number)
    if (id_of(device, number) == id) return number;
  return device.number();
}

// Copies on the rank that leads, `exchange` again and again; the others have nothing to do.
Contender copies(std::string_view name, const Stage& stage, std::shared_ptr<CopyMemory> memory,
                 std::function<void()> exchange) {
  const bool leads = stage.leads;
  const bool rewritten = stage.rewritten;
  const auto try_out = [leads, exchange](int count) {
    const Stopwatch watch;
    if (leads) repeat(exchange, count);
    return watch.elapsed_us();
  };
  const auto phase = [leads, rewritten, memory, exchange](const Plan& plan) {
    if (!leads) return PhaseResult{};
    if (!rewritten) return time_exchanges(exchange, plan);
    return time_prepared_exchanges([&] { memory->rewrite(); }, exchange, plan, clock_cost_us());
  };
  return {std::string(name), try_out, phase, Arrivals{[] {}, [] {}}};
}

// A way between two places of the memory, which stays as long as what is returned.
Contender message_copies(std::string_view name, const Stage& stage, const std::shared_ptr<CopyMemory>& memory,
                         const std::byte* from, std::byte* to, int window) {
  if (!stage.leads) return copies(name, stage, memory, {});
  const auto system = std::make_shared<CopySystem>(*memory, from, to, window);
  const Op op = stage.op;
  const auto exchange = [system, op] { with_exchange(*system, op, true, [](auto&& once) { once(); }); };
  return copies(name, stage, memory, exchange);
}

}  // namespace

DeviceLibrary::DeviceLibrary(ProcessGroup& group, const Options& options, RankDevice& device)
    : group_(group), options_(options), device_(device), world_(group), partner_device_(device.number()) {
  own_group_ = group_.dup({.name = "own", .device_backend = DeviceBackend::own});
  if (options.nccl) nccl_group_ = group_.dup({.name = "nccl", .device_backend = DeviceBackend::nccl});
  const cuda::DeviceId mine = id_of(device_, device_.number());
  const int rank = world_.rank();
  if (rank % 2 != 0) world_.send_value(mine, rank - 1);
  if (rank % 2 == 0) partner_device_ = number_of(device_, world_.recv_value<cuda::DeviceId>(rank + 1));
  if (rank != 0) {
    world_.send_value(mine, 0);
    return;
  }
  std::set<cuda::DeviceId> all{mine};
  for (int other = 1; other < world_.size(); ++other) all.insert(world_.recv_value<cuda::DeviceId>(other));
  devices_in_use_ = static_cast<int>(all.size());
}

Contender DeviceLibrary::make_parley(const Stage& stage, int partner, Buffers& buffers, const Plan& plan) {
  Contender contender;
  if (options_.devices.of(stage.leads) == Memory::cpu) {
    contender = make_pair_contender<Slowed<ParleySystem>>("parley", stage, buffers, stage.leads, group_,
                                                          partner, buffers, plan);
  } else {
    buffers.move_to(device_);
    contender = make_pair_contender<Slowed<DeviceSystem>>(
        "parley", stage, buffers, stage.leads, device_, group_, partner,
        tensor_on(device_, buffers.twins()->out(), buffers.out()),
        tensor_on(device_, buffers.twins()->in(), buffers.in()), plan);
  }
  // One end at least has its messages on a device, where only those of the measured traffic are.
  contender.prove = nullptr;
  return contender;
}

Contender DeviceLibrary::make_parley_host(const Stage& stage, int partner, std::size_t bytes,
                                          const Plan& plan) {
  host_ = std::make_unique<Buffers>(bytes, world_.rank(), partner);
  Contender contender = make_pair_contender<Slowed<ParleySystem>>(std::string(parley_host), stage, *host_,
                                                                  stage.leads, group_, partner, *host_, plan);
  contender.arrivals = arrivals_in(*host_, stage.op, stage.leads);
  return contender;
}

std::vector<Contender> DeviceLibrary::pair_contenders(const Stage& stage, int partner, Buffers& buffers,
                                                      const Plan& plan) {
  const std::size_t bytes = buffers.out().size();
  std::vector<Contender> contenders{make_parley(stage, partner, buffers, plan)};
  if (is_staged(options_.transport)) contenders.push_back(make_parley_host(stage, partner, bytes, plan));
  std::shared_ptr<CopyMemory> memory;
  if (stage.leads) memory = std::make_shared<CopyMemory>(device_, bytes, partner_device_);
  const auto add = [&](std::string_view name, const std::byte* from, std::byte* to) {
    contenders.push_back(message_copies(name, stage, memory, from, to, plan.window));
  };
  if (memory == nullptr) {
    for (const std::string_view name : {device_copy, pinned_to_device, device_to_pinned})
      add(name, nullptr, nullptr);
    return contenders;
  }
  add(device_copy, memory->source(), memory->target());
  add(pinned_to_device, memory->pinned(), memory->target());
  add(device_to_pinned, memory->source(), memory->pinned());
  return contenders;
}

Contender DeviceLibrary::make_collective(std::string_view name, const Stage& stage, ProcessGroup& group,
                                         CollectiveBuffers& buffers) {
  return make_collective_contender<SlowedCollective<DeviceCollective>>(
      std::string(name), stage, buffers, stage.leads, device_, group, buffers,
      tensor_on(device_, buffers.twins()->out(), buffers.out()),
      tensor_on(device_, buffers.twins()->in(), buffers.in()), options_.async);
}

std::vector<Contender> DeviceLibrary::collective_contenders(const Stage& stage, CollectiveBuffers& buffers) {
  buffers.move_to(device_);
  std::vector<Contender> contenders{make_collective("parley", stage, own_group_, buffers)};
  if (options_.nccl) contenders.push_back(make_collective(parley_nccl, stage, nccl_group_, buffers));
  if (!stage.leads) {
    contenders.push_back(copies(device_copy, stage, nullptr, {}));
    return contenders;
  }
  // What must go from rank to rank, by each device its part.
  const int all = crossings(stage.op, world_.size());
  const int part = (all + devices_in_use_ - 1) / devices_in_use_;
  const auto memory =
      std::make_shared<CopyMemory>(device_, buffers.count() * sizeof(float), device_.number());
  CopySystem system(*memory, memory->source(), memory->target(), part);
  contenders.push_back(copies(device_copy, stage, memory, [system]() mutable { system.send_window(); }));
  return contenders;
}

}  // namespace parley::bench
