#include "bench/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace parley::bench {
namespace {

[[noreturn]] void fail_in(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "shared memory: " + what);
}

}  // namespace

SharedMemory SharedMemory::create(std::size_t bytes) {
  base::UniqueFd fd(::memfd_create("parley-bench", MFD_CLOEXEC));
  if (!fd) fail_in("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail_in("ftruncate");
  return {std::move(fd), bytes};
}

SharedMemory SharedMemory::open_from(pid_t owner, int fd) {
  const std::string path = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(fd);
  base::UniqueFd own(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!own) fail_in("open " + path);
  struct stat status {};
  if (::fstat(own.get(), &status) != 0) fail_in("fstat " + path);
  return {std::move(own), static_cast<std::size_t>(status.st_size)};
}

SharedMemory::SharedMemory(base::UniqueFd fd, std::size_t bytes)
    : fd_(std::move(fd)), mapping_(map(fd_.get(), bytes)) {}

SharedMemory::Mapping SharedMemory::map(int fd, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (memory == MAP_FAILED) fail_in("mmap");
  return {memory, Unmap{bytes}};
}

void SharedMemory::Unmap::operator()(void* memory) const noexcept {
  ::munmap(memory, bytes);
}

}  // namespace parley::bench
