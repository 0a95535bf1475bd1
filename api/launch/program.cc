#include "api/launch/program.h"

#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace parley::launch {
namespace {

// 0 when the file can be executed, else the reason as an errno.
int why_not_executable(const std::string& path) noexcept {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

ProgramSearch found_or_not(const std::string& path, int reason) {
  if (reason == 0) return {path, 0, {}};
  const bool missing = reason == ENOENT || reason == ENOTDIR;
  return {{}, missing ? exit_not_found : exit_not_executable, std::system_category().message(reason)};
}

constexpr const char* own_image = "/proc/self/exe";

bool is_same_file(const char* a, const char* b) noexcept {
  struct stat of_a {};
  struct stat of_b {};
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// Its name rather than /proc/self/exe, where that means the same: the kernel calls a process after it.
std::string own_path() {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink(own_image, error).string();
  return !error && is_same_file(path.c_str(), own_image) ? path : own_image;
}

}  // namespace

Program own_program() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  Program program{own_path(), {}};
  for (std::string argument; std::getline(file, argument, '\0');) program.arguments.push_back(argument);
  // A failed read of a file that is open ends the loop as its end does; a command line is never empty.
  if (program.arguments.empty())
    throw SystemError("/proc/self/cmdline, which tells how this program was started, cannot be read");
  return program;
}

ProgramSearch find_program(const std::string& name) {
  if (name.empty()) return found_or_not(name, ENOENT);
  if (name.find('/') != std::string::npos) return found_or_not(name, why_not_executable(name));

  const char* variable = std::getenv("PATH");
  std::string_view left = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int worst = ENOENT;
  for (bool more = true; more;) {
    const std::size_t colon = left.find(':');
    const std::string_view folder = left.substr(0, colon);
    more = colon != std::string_view::npos;
    if (more) left.remove_prefix(colon + 1);
    const std::string path = (folder.empty() ? std::string(".") : std::string(folder)) + '/' + name;
    const int reason = why_not_executable(path);
    if (reason == 0) return found_or_not(path, 0);
    if (reason == EACCES) worst = EACCES;  // a later folder may have one that runs
  }
  return worst == ENOENT ? ProgramSearch{{}, exit_not_found, "not found in PATH"} : found_or_not(name, worst);
}

int become_program(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execvp(path.c_str(),
         pointers.data());  // the path has a slash; execvp gives scripts without #! to the shell
  const int reason = errno;
  std::fprintf(stderr, "cannot start %s: %s\n", path.c_str(), std::system_category().message(reason).c_str());
  return reason == ENOENT ? exit_not_found : exit_not_executable;
}

}  // namespace parley::launch
