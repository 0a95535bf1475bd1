#include "transport/base/cpu_quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/base/host_root.h"

namespace parley::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Quotas : public HostRoot {
 protected:
  // What the quotas found allow, innermost first.
  [[nodiscard]] std::vector<std::uint32_t> found() const {
    std::vector<std::uint32_t> millicores;
    for (const CpuQuota& quota : cpu_quotas(root_)) millicores.push_back(quota.millicores);
    return millicores;
  }
};

constexpr const char* v2_mount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";

TEST_F(Quotas, OfAllGroupsAroundTheProcess) {
  write("/proc/self/mountinfo", v2_mount);
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/job/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/job/step/cpu.max", "75000 50000\n");
  EXPECT_THAT(found(), ElementsAre(1500, 4000));
  const auto quotas = cpu_quotas(root_);
  EXPECT_NE(quotas[0].group, quotas[1].group);
  EXPECT_EQ(quotas, cpu_quotas(root_));
}

// The group is the same one, whatever it is called inside.
TEST_F(Quotas, OfAContainerThatSeesItsOwnGroupAsTheRoot) {
  write("/proc/self/mountinfo", v2_mount);
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_THAT(found(), ElementsAre(2000));
  const std::string inside = cpu_quotas(root_)[0].group;
  write("/proc/self/mountinfo", "30 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  write("/proc/self/cgroup", "0::/docker/4f\n");
  EXPECT_THAT(found(), ElementsAre(2000));
  EXPECT_EQ(cpu_quotas(root_)[0].group, inside);
}

TEST_F(Quotas, OfVersionOne) {
  write("/proc/self/mountinfo", v1_mounts);
  write("/proc/self/cgroup", "4:cpuset:/other\n3:cpu,cpuacct:/job\n0::/\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(found(), ElementsAre(2500));
}

TEST_F(Quotas, AGroupThatCannotBeSeenHasTheOneAroundIt) {
  write("/proc/self/mountinfo", "30 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  write("/proc/self/cgroup", "0::/docker/4f2\n");
  write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_THAT(found(), ElementsAre(1000));
  write("/proc/self/mountinfo", v2_mount);
  write("/proc/self/cgroup", "0::/../sibling\n");
  EXPECT_THAT(found(), ElementsAre(1000));
}

TEST_F(Quotas, WhatIsNoNumberIsNoQuota) {
  EXPECT_THAT(found(), IsEmpty()) << "no control groups";
  write("/proc/self/mountinfo", v2_mount);
  EXPECT_THAT(found(), IsEmpty()) << "no group";
  write("/proc/self/cgroup", "0::/\nnonsense\n");
  for (const char* text : {"", "max 100000", "100000", "100000 0", "-5 100000", "1e30 1", "x y"}) {
    write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_THAT(found(), IsEmpty()) << text;
  }
}

TEST(OwnQuotas, CanBeAskedFor) {
  EXPECT_EQ(cpu_quotas(), cpu_quotas());
}

}  // namespace
}  // namespace parley::base
