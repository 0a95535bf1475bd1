#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/collective_call.h"
#include "api/group_state.h"
#include "api/nccl/link.h"

// How the ranks of a group work together on their devices: by NCCL, or by Parley's own schedules and copies.
namespace parley::detail {

struct DevicePath {
  std::string why;                      // in words, why this way
  int version = 0;                      // of NCCL
  bool is_one_device = false;           // all ranks' devices are the same one, and may copy by CUDA IPC
  std::unique_ptr<nccl::Link> link;     // null: without NCCL; else:
  std::vector<std::uint64_t> sent;      // by rank of the group, what was sent to it in fused batches
  std::vector<std::uint64_t> received;  // likewise, from it

  // Throws UsageError where a tensor is on another device than NCCL works on.
  void require_device(int device, const char* operation) const;
};

// The call that needs a path, and perhaps is the first one.
struct DeviceCall {
  const char* name;  // "all_reduce", for errors
  std::chrono::nanoseconds timeout;
  bool gives_up;  // see transport::Request
};

// The path of a group, agreed on by all its ranks when they first do something together on devices, which
// this waits for then, at most the call's timeout; also where another thread is at it. Throws what a
// collective throws; UsageError for a PARLEY_DEVICE_PATH that cannot be granted, and in a completion function
// that runs while its thread is at it. REQUIRES: not the engine's lock.
DevicePath& device_path_of(const std::shared_ptr<GroupState>& group, int device, const DeviceCall& call);

// An empty link of the group's, for which leaving the world waits, too. REQUIRES: not the engine's lock.
// Throws ResourceError: there is no thread for NCCL.
std::unique_ptr<nccl::Link> make_link(const GroupState& group, nccl::Library& library, int device,
                                      const char* operation);

// Has NCCL do a collective on devices, where the group has NCCL and NCCL such a collective.
void choose_path(const std::shared_ptr<GroupState>& group, CollectiveCall& call);

// "devices: NCCL 2.28.9 on cuda:0 (each rank has a device of its own)". "": they were not used yet.
std::string describe_device_path(const GroupState& group);

}  // namespace parley::detail
