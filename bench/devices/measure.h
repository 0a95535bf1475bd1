#pragma once

#include <parley/process_group.h>

#include <string>

#include "bench/options.h"
#include "bench/raw_link.h"
#include "bench/report.h"
#include "transport/cuda/api.h"

namespace parley::bench {

// The CUDA of this rank. Throws CommandLineError with the reason when there is none.
cuda::Api& require_devices();

// "cuda (NVIDIA H100, CUDA driver 13.0)": what this rank measures on.
std::string describe_devices(cuda::Api& api, const ProcessGroup& group, const DeviceChoice& choice);

// Measures the options' operation with buffers on devices: each rank uses that of its local rank, counted
// round. Every rank of the group calls it. `report` is rank 0's, null elsewhere. Throws what went wrong.
void measure_on_devices(cuda::Api& api, ProcessGroup& group, const Options& options, Idle idle,
                        Report* report);

}  // namespace parley::bench
