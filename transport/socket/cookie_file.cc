#include "transport/socket/cookie_file.h"

#include <fcntl.h>
#include <parley/error.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/private_file.h"
#include "transport/socket/secret.h"

namespace parley::socket {
namespace {

constexpr std::size_t cookie_length = 64;

PrivateFile cookie_file(const std::string& path) {
  return {.path = path, .what = "the cookie file", .way_out = "or set PARLEY_SECRET", .may_be_link = false};
}

std::string home_of_user() {
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') return home;
  std::vector<char> text(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    throw SystemError("this user has no home folder for a cookie file: set PARLEY_SECRET");
  return found->pw_dir;
}

// The private parent folder; those above it get the user's usual mode.
void make_folders(const PrivateFile& file) {
  const auto folder = std::filesystem::path(file.path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) fail(file, "making its folders", error.value());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(file, "making its folder", errno);
}

// Nothing when there is no file yet.
std::optional<std::string> read_cookie(const PrivateFile& file) {
  auto text = read_private_file(file, 4096);
  if (!text) return std::nullopt;
  if (text->size() == cookie_length + 1 && text->back() == '\n') text->pop_back();
  if (text->size() != cookie_length || text->find_first_not_of("0123456789abcdef") != std::string::npos)
    fail(file, "it is damaged: remove it");
  return text;
}

void write_all(const PrivateFile& file, int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "writing it", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (fsync(fd) != 0) fail(file, "writing it", errno);
}

// Writes a file of its own and gives it the name in one step: nobody can read half a cookie, and of several
// processes one wins. link(2) is atomic on NFS too, where home folders often are.
void make_cookie(const PrivateFile& file) {
  make_folders(file);
  const std::string draft = base::concat(file.path, ".", make_secret().substr(0, 16));
  const base::UniqueFd fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) fail(file, "making it", errno);
  struct RemoveDraft {
    const std::string& name;
    ~RemoveDraft() { unlink(name.c_str()); }
  } const remove_draft{draft};
  write_all(file, fd.get(), make_secret() + "\n");
  if (link(draft.c_str(), file.path.c_str()) != 0 && errno != EEXIST) fail(file, "making it", errno);
}

}  // namespace

std::string cookie_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const bool is_set = config != nullptr && config[0] == '/';
  return (is_set ? std::string(config) : home_of_user() + "/.config") + "/parley/cookie";
}

std::string read_or_make_cookie(const std::string& path) {
  const PrivateFile file = cookie_file(path);
  if (auto cookie = read_cookie(file)) return *cookie;
  make_cookie(file);
  if (auto cookie = read_cookie(file)) return *cookie;
  fail(file, "it vanished as soon as it was made");
}

}  // namespace parley::socket
