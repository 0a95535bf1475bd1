#include "transport/socket/cookie_file.h"

#include <fcntl.h>
#include <parley/error.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/secret.h"

namespace parley::socket {
namespace {

constexpr std::size_t cookie_length = 64;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw SystemError(base::concat("cannot use the cookie file ", path, ": ", why, "; or set PARLEY_SECRET"));
}

[[noreturn]] void fail(const std::string& path, const char* step, int error) {
  fail(path, base::concat(step, ": ", std::system_category().message(error)));
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
void make_folders(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) fail(path, "making its folders", error.value());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(path, "making its folder", errno);
}

void check_private(const std::string& path, int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) fail(path, "looking at it", errno);
  if (!S_ISREG(facts.st_mode)) fail(path, "it is not a regular file: remove it");
  if (facts.st_uid != geteuid())
    fail(path, base::concat("it belongs to user ", facts.st_uid, ", not to ", geteuid()));
  if ((facts.st_mode & 077) != 0)
    fail(path, "others may read it: make it private by chmod 600, or remove it");
}

// Reads up to out.size() bytes; returns how many there were.
std::size_t read_all(const std::string& path, int fd, std::span<char> out) {
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t count = read(fd, out.data() + have, out.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "reading it", errno);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  return have;
}

// Nothing when there is no file yet.
std::optional<std::string> read_cookie(const std::string& path) {
  // O_NONBLOCK: a named pipe in its place must not stop us.
  const base::UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd && errno == ELOOP) fail(path, "it is a symbolic link: remove it");
  if (!fd) fail(path, "opening it", errno);
  check_private(path, fd.get());
  std::array<char, cookie_length + 2> text{};
  const std::size_t length = read_all(path, fd.get(), text);
  const std::string_view cookie(text.data(), std::min(length, cookie_length));
  const bool complete =
      length == cookie_length || (length == cookie_length + 1 && text[cookie_length] == '\n');
  if (!complete || cookie.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    fail(path, "it is damaged: remove it");
  return std::string(cookie);
}

void write_all(const std::string& path, int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "writing it", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (fsync(fd) != 0) fail(path, "writing it", errno);
}

// Writes a file of its own and gives it the name in one step: nobody can read half a cookie, and of several
// processes one wins. link(2) is atomic on NFS too, where home folders often are.
void make_cookie(const std::string& path) {
  make_folders(path);
  const std::string draft = base::concat(path, ".", make_secret().substr(0, 16));
  const base::UniqueFd fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) fail(path, "making it", errno);
  struct RemoveDraft {
    const std::string& name;
    ~RemoveDraft() { unlink(name.c_str()); }
  } const remove_draft{draft};
  write_all(path, fd.get(), make_secret() + "\n");
  if (link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) fail(path, "making it", errno);
}

}  // namespace

std::string cookie_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const bool is_set = config != nullptr && config[0] == '/';
  return (is_set ? std::string(config) : home_of_user() + "/.config") + "/parley/cookie";
}

std::string read_or_make_cookie(const std::string& path) {
  if (auto cookie = read_cookie(path)) return *cookie;
  make_cookie(path);
  if (auto cookie = read_cookie(path)) return *cookie;
  fail(path, "it vanished as soon as it was made");
}

}  // namespace parley::socket
