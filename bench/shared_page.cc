#include "bench/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace parley::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "shared page: " + what);
}

}  // namespace

SharedPage SharedPage::create() {
  base::UniqueFd fd(::memfd_create("parley-bench", MFD_CLOEXEC));
  if (!fd) fail("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate");
  return SharedPage(std::move(fd));
}

SharedPage SharedPage::open_from(pid_t owner, int fd) {
  const std::string path = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(fd);
  base::UniqueFd own(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!own) fail("open " + path);
  return SharedPage(std::move(own));
}

SharedPage::SharedPage(base::UniqueFd fd) : fd_(std::move(fd)) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) fail("mmap");
  mapping_.reset(memory);
}

void SharedPage::Unmap::operator()(void* memory) const noexcept {
  ::munmap(memory, bytes);
}

}  // namespace parley::bench
