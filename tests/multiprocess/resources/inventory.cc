#include "tests/multiprocess/resources/inventory.h"

#include <dirent.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

// Without the descriptor of the listing itself.
std::set<int> open_descriptors() {
  struct Close {
    void operator()(DIR* directory) const noexcept { closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(opendir("/proc/self/fd"));
  expect(directory != nullptr, "opendir");
  std::set<int> open;
  while (const dirent* entry = readdir(directory.get()))
    if (entry->d_name[0] != '.') open.insert(std::atoi(entry->d_name));
  open.erase(dirfd(directory.get()));
  return open;
}

int thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

std::string name_of_descriptor(int fd) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), gone).string();
}

}  // namespace parley::testing
