#include "tests/simulated_device/handles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "transport/base/log.h"

namespace parley::cuda::testing {
namespace {

// FNV-1a: a handle that was cut, shifted or never filled must not be taken for one.
std::uint64_t checksum(const Export& what) {
  std::array<unsigned char, sizeof(Export)> bytes{};
  std::memcpy(bytes.data(), &what, sizeof what);
  std::uint64_t sum = 14695981039346656037u;
  for (unsigned char byte : bytes) sum = (sum ^ byte) * 1099511628211u;
  return sum;
}

std::uint64_t inode_of(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 ? found.st_ino : 0;
}

static_assert(std::has_unique_object_representations_v<Export>, "checksum() reads all of its bytes");
static_assert(sizeof(Export) + sizeof(std::uint64_t) <= sizeof(HandleBytes));

}  // namespace

HandleBytes seal(Export what, int fd) {
  what.pid = getpid();
  what.fd = fd;
  what.inode = inode_of(fd);
  HandleBytes bytes{};
  const std::uint64_t sum = checksum(what);
  std::memcpy(bytes.data(), &what, sizeof what);
  std::memcpy(bytes.data() + sizeof what, &sum, sizeof sum);
  return bytes;
}

Code unseal(const HandleBytes& bytes, Export& what) {
  std::uint64_t sum = 0;
  std::memcpy(&what, bytes.data(), sizeof what);
  std::memcpy(&sum, bytes.data() + sizeof what, sizeof sum);
  return sum == checksum(what) ? Code::ok : Code::invalid_value;
}

Code open_export(const Export& what, base::UniqueFd& fd) {
  if (what.pid == getpid()) return Code::invalid_context;
  const std::string path = base::concat("/proc/", what.pid, "/fd/", what.fd);
  fd.reset(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd && inode_of(fd.get()) == what.inode) return Code::ok;
  fd.reset();
  return Code::map_failed;
}

}  // namespace parley::cuda::testing
