// gpu_probe: what this machine offers to the tests of devices, one line "what: answer" each.
// Exit code 77: no device, and the line `device` says why.

#include <cstdio>
#include <string>

#include "bench/devices/presence.h"
#include "tests/gpu/host_checks.h"
#include "tests/gpu/ipc_check.h"
#include "transport/cuda/runtime.h"

namespace {

constexpr int exit_skipped = 77;

void say(const char* what, const std::string& answer) {
  std::printf("%s: %s\n", what, answer.c_str());
  std::fflush(stdout);
}

// REQUIRES: there is one.
void tell_devices() {
  parley::cuda::Api& api = *parley::cuda::runtime();
  say("driver", api.version());
  say("devices", std::to_string(api.device_count()));
  for (int i = 0; i < api.device_count(); ++i)
    say(("device " + std::to_string(i)).c_str(), api.device_name(i));
}

}  // namespace

int main() {
  using namespace parley::tests;
  say("system", system());
  say("cores", cores());
  say("memory", memory());
  say("memfd", check_memfd());
  say("cross-memory reads", check_cross_memory_reads());
  say("NCCL", check_nccl());
  // Asked in a child, for the next check forks.
  const std::string reason = parley::bench::reason_against_devices();
  if (!reason.empty()) {
    say("device", "none: " + reason);
    say("CUDA IPC between processes", "not tried: no device");
    return exit_skipped;
  }
  say("CUDA IPC between processes", check_ipc(parley::cuda::runtime));
  tell_devices();
  return 0;
}
