// What does not depend on the job: the build, the host, its limits and its addresses.
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <thread>

#include "api/nccl/runtime.h"
#include "tools/info/report.h"
#include "transport/base/host.h"
#include "transport/base/log.h"
#include "transport/cuda/runtime.h"
#include "transport/socket/crypto.h"
#include "transport/socket/handshake_messages.h"
#include "transport/socket/own_address.h"

namespace parley::info {
namespace {

Json limit_of(rlim_t value) {
  return value == RLIM_INFINITY ? Json("unlimited") : Json(value);
}

}  // namespace

Json describe_build() {
  const std::string sanitizers = PARLEY_INFO_SANITIZERS;
  return {{"version", PARLEY_VERSION},
          {"compiler", PARLEY_INFO_COMPILER},
          {"build_type", PARLEY_INFO_BUILD_TYPE},
          {"sanitizers", sanitizers.empty() ? "none" : sanitizers},
          {"handshake_version", socket::protocol_version},
          {"openssl", socket::proofs_available() ? "yes" : "no: loopback only, nothing is proved"}};
}

Json describe_host() {
  utsname system{};
  uname(&system);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  return {{"name", base::host_name()},
          {"id", base::host_id()},
          {"system", base::concat(system.sysname, " ", system.release, " ", system.machine)},
          {"process", getpid()},
          {"cores_of_this_process", base::usable_cores().size()},
          {"cores_of_the_host", std::thread::hardware_concurrency()},
          {"descriptors_at_most", limit_of(descriptors.rlim_cur)},
          {"descriptors_hard_limit", limit_of(descriptors.rlim_max)}};
}

Json describe_cuda() {
  const cuda::Api* const api = cuda::runtime();
  Json cuda;
  if (api == nullptr) {
    cuda["devices"] = "none: " + cuda::reason_against();
  } else {
    cuda["driver"] = api->version();
    for (int device = 0; device < api->device_count(); ++device)
      cuda[base::concat("cuda:", device)] = api->device_name(device);
  }
  const nccl::Library* const library = nccl::runtime();
  cuda["nccl"] =
      library != nullptr ? nccl::version_text(library->version()) : "none: " + nccl::reason_against();
  return cuda;
}

Json describe_interfaces() {
  Json interfaces = Json::array();
  for (const auto& one : socket::network_addresses())
    interfaces.push_back({{"interface", one.interface},
                          {"address", one.address.empty() ? "without an address" : one.address},
                          {"up", one.up},
                          {"loopback", one.loopback}});
  return interfaces;
}

}  // namespace parley::info
