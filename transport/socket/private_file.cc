#include "transport/socket/private_file.h"

#include <fcntl.h>
#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"

namespace parley::socket {
namespace {

void check_private(const PrivateFile& file, int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) fail(file, "looking at it", errno);
  if (!S_ISREG(facts.st_mode)) fail(file, "it is not a regular file: remove it");
  if (facts.st_uid != geteuid())
    fail(file, base::concat("it belongs to user ", facts.st_uid, ", not to ", geteuid()));
  if ((facts.st_mode & 077) != 0)
    fail(file, "others may read it: make it private by chmod 600, or remove it");
}

}  // namespace

void fail(const PrivateFile& file, const std::string& why) {
  throw SystemError(base::concat("cannot use ", file.what, " ", file.path, ": ", why, "; ", file.way_out));
}

void fail(const PrivateFile& file, const char* step, int error) {
  fail(file, base::concat(step, ": ", std::system_category().message(error)));
}

std::optional<std::string> read_private_file(const PrivateFile& file, std::size_t limit_bytes) {
  // O_NONBLOCK: a named pipe in its place must not stop us.
  const int no_link = file.may_be_link ? 0 : O_NOFOLLOW;
  const base::UniqueFd fd(open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | no_link));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd && errno == ELOOP) fail(file, "it is a symbolic link: remove it");
  if (!fd) fail(file, "opening it", errno);
  check_private(file, fd.get());
  std::string text(limit_bytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = read(fd.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "reading it", errno);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  if (have > limit_bytes) fail(file, base::concat("it has more than ", limit_bytes, " bytes"));
  text.resize(have);
  return text;
}

}  // namespace parley::socket
