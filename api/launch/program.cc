#include "api/launch/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
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

}  // namespace

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
