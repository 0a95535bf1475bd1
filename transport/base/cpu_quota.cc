#include "transport/base/cpu_quota.h"

#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <sstream>

namespace parley::base {
namespace {

// A line of /proc/self/mountinfo that mounts control groups with a cpu controller.
struct Mount {
  std::string subtree;  // the part of the hierarchy that is mounted
  std::string place;
  bool is_v2 = false;
};

bool names(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

std::vector<Mount> cpu_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word, type, source, options;
    Mount mount;
    words >> word >> word >> word >> mount.subtree >> mount.place;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    mount.is_v2 = type == "cgroup2";
    if (mount.is_v2 || (type == "cgroup" && names(options, "cpu"))) mounts.push_back(std::move(mount));
  }
  return mounts;
}

// The group of this process in the hierarchy of the mount, from /proc/self/cgroup: "0::/path" in version 2,
// "4:cpu,cpuacct:/path" in version 1.
std::optional<std::string> own_group(const std::string& root, const Mount& mount) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (mount.is_v2 ? controllers.empty() : names(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The group's path below the place where its hierarchy is mounted. A group outside of what is mounted cannot
// be seen; then what is mounted is looked at, which is around it in the usual case.
std::string below(const Mount& mount, const std::string& group) {
  const std::string& subtree = mount.subtree;
  if (subtree == "/") return group == "/" || group.starts_with("/..") ? "" : group;
  if (!group.starts_with(subtree)) return "";
  const std::string rest = group.substr(subtree.size());
  return rest.empty() || rest.starts_with('/') ? rest : "";
}

// Of one group: "QUOTA PERIOD" or "max PERIOD" in version 2; two files, and -1, in version 1.
std::optional<std::uint32_t> quota_of(const std::string& directory, bool is_v2) {
  double quota_us = 0;
  double period_us = 0;
  if (is_v2) {
    std::ifstream(directory + "/cpu.max") >> quota_us >> period_us;
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota_us;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period_us;
  }
  const double millicores = 1000 * quota_us / period_us;
  // The comparisons are false for what is no number.
  if (!(quota_us > 0 && period_us > 0 && millicores < 4e9)) return std::nullopt;
  return static_cast<std::uint32_t>(millicores);
}

std::string identity_of(const std::string& directory) {
  struct stat facts {};
  if (stat(directory.c_str(), &facts) != 0) return directory;
  return std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

}  // namespace

std::vector<CpuQuota> cpu_quotas(const std::string& root) {
  std::vector<CpuQuota> quotas;
  for (const Mount& mount : cpu_mounts(root)) {
    const auto group = own_group(root, mount);
    if (!group) continue;
    for (std::string path = below(mount, *group);; path.resize(path.rfind('/'))) {
      const std::string directory = root + mount.place + path;
      if (const auto millicores = quota_of(directory, mount.is_v2))
        quotas.push_back({identity_of(directory), *millicores});
      if (path.find('/') == std::string::npos) break;
    }
  }
  return quotas;
}

}  // namespace parley::base
