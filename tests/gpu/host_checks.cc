#include "tests/gpu/host_checks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>
#include <thread>

#include "transport/base/unique_fd.h"

namespace parley::tests {
namespace {

constexpr std::size_t page = 4096;

std::string because(const char* call, int error = errno) {
  return std::string("no: ") + call + ": " + std::system_category().message(error);
}

std::string in_gib(long pages) {
  const auto bytes = static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f GiB", bytes / (1 << 30));
  return text.data();
}

// 22703 is 2.27.3.
std::string nccl_version(int number) {
  return std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

}  // namespace

std::string check_memfd() {
  const base::UniqueFd fd(::memfd_create("parley-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return because("memfd_create");
  if (::ftruncate(fd.get(), page) != 0) return because("ftruncate");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return because("sealing it");
  void* const memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return because("mmap");
  ::munmap(memory, page);
  return "works";
}

std::string check_cross_memory_reads() {
  (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // as Parley does; not every kernel knows it
  int word = 4711;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return because("fork");
  if (child == 0) {
    int copy = 0;
    const iovec to{.iov_base = &copy, .iov_len = sizeof copy};
    const iovec from{.iov_base = &word, .iov_len = sizeof word};
    const ssize_t got = ::process_vm_readv(parent, &to, 1, &from, 1, 0);
    ::_exit(got < 0 ? errno : copy == word ? 0 : EIO);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) return "no: the reading process has died";
  return WEXITSTATUS(status) == 0 ? "works" : because("process_vm_readv", WEXITSTATUS(status));
}

std::string check_nccl() {
  void* const library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "none: libnccl.so.2 was not found";
  // ncclResult_t ncclGetVersion(int*); 0 is success.
  auto* const get_version = reinterpret_cast<int (*)(int*)>(::dlsym(library, "ncclGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return "libnccl.so.2 does not tell its version";
  return nccl_version(version);
}

std::string cores() {
  cpu_set_t usable;
  const std::string all = std::to_string(std::thread::hardware_concurrency());
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? std::to_string(CPU_COUNT(&usable)) : all;
}

std::string memory() {
  return in_gib(::sysconf(_SC_PHYS_PAGES)) + ", " + in_gib(::sysconf(_SC_AVPHYS_PAGES)) + " free";
}

std::string system() {
  utsname names{};
  (void)::uname(&names);
  return std::string(names.sysname) + " " + names.release + " " + names.machine + ", glibc " +
         ::gnu_get_libc_version();
}

}  // namespace parley::tests
