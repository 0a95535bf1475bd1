#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parley::base {

// What a control group allows its processes together: so many thousandths of a core, over a while.
struct CpuQuota {
  std::string group;  // the same text for the same group, in whichever namespace it is asked for
  std::uint32_t millicores = 0;

  friend bool operator==(const CpuQuota&, const CpuQuota&) = default;
};

// The quotas that this process is under: of its control group and of those around it, as far as they can be
// seen from here; cgroup v2 and v1. Empty where there is none. `root` is put before every path that is read.
std::vector<CpuQuota> cpu_quotas(const std::string& root = "");

}  // namespace parley::base
