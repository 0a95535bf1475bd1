#pragma once

#include <parley/process_group.h>

#include <memory>
#include <vector>

#include "bench/devices/copies.h"
#include "bench/devices/rank_device.h"
#include "bench/library.h"
#include "bench/options.h"
#include "bench/parley_world.h"

namespace parley::bench {

// Parley with buffers on devices, and in the same rounds what one process reaches by copies alone. Its ways,
// by their names in figures.h: Parley; where messages are staged, Parley between buffers of the host; a copy
// within the device and, for messages, from and to pinned memory of the host. Copies are made by the ranks
// that lead.
class DeviceLibrary final : public Library {
 public:
  // Every rank makes one, with the same options. Borrows all three for its lifetime.
  DeviceLibrary(ProcessGroup& group, const Options& options, RankDevice& device);

  World& world() override { return world_; }
  // Moves the buffers to the device, if this rank's belong there. What is returned ends before the next call.
  std::vector<Contender> pair_contenders(const Stage& stage, int partner, Buffers& buffers,
                                         const Plan& plan) override;
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override;

  // Whose collectives Parley's own schedules do.
  [[nodiscard]] const ProcessGroup& own_group() const noexcept { return own_group_; }

 private:
  Contender make_parley(const Stage& stage, int partner, Buffers& buffers, const Plan& plan);
  Contender make_collective(std::string_view name, const Stage& stage, ProcessGroup& group,
                            CollectiveBuffers& buffers);
  Contender make_parley_host(const Stage& stage, int partner, std::size_t bytes, const Plan& plan);

  ProcessGroup& group_;
  const Options& options_;
  RankDevice& device_;
  // Of the same ranks: where NCCL does its collectives, and where Parley does.
  ProcessGroup nccl_group_;
  ProcessGroup own_group_;
  ParleyWorld world_;
  // Known to ranks that lead: the device of the next rank, by its number here; how many all ranks have.
  int partner_device_;
  int devices_in_use_ = 1;
  std::unique_ptr<Buffers> host_;  // of the latest pair_contenders()
};

}  // namespace parley::bench
