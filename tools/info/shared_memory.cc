// What this host lets processes of this user share, found out by trying.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <system_error>

#include "tools/info/report.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/cross_memory.h"
#include "transport/shm/segment.h"

namespace parley::info {
namespace {

using transport::shm::CrossMemory;
using transport::shm::CrossRead;
using transport::shm::Segment;

// The most that a rank asks for at once without a tensor of its own.
constexpr std::size_t probed_bytes = std::size_t{4} << 20;

// A forked process that lives as long as this object.
class Child {
 public:
  template <typename Life>
  explicit Child(const Life& life) : parent_(::getpid()), process_(::fork()) {
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::getppid() == parent_ ? life() : 0);
  }
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    exit_code();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t process() const noexcept { return process_; }
  // When it has ended by itself; else -1.
  int exit_code() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t parent_;
  pid_t process_;
};

CrossRead read_of(const CrossMemory& own, pid_t process) noexcept {
  return transport::shm::try_cross_read(own.read, process, own.word_address(), own.word());
}

std::string told(CrossRead result) {
  return result == CrossRead::works ? "works" : why_not(result);
}

// A fork has the word where its parent has it.
void add_cross_reads(Json& shared) {
  const std::shared_ptr<const CrossMemory> own = CrossMemory::create();
  if (own == nullptr) {
    shared["read of a child"] = "not tried: the system gave no random bytes";
    return;
  }
  int ends[2];  // of a pipe: the target lets others read it now
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    shared["read of a child"] = "not tried: pipe2: " + std::generic_category().message(errno);
    return;
  }
  const base::UniqueFd hears(ends[0]);
  base::UniqueFd tells(ends[1]);
  Child target([&] {
    (void)transport::shm::let_peers_read();  // which no fork inherits
    if (::write(tells.get(), "", 1) != 1) return 1;
    for (;;) ::pause();
    return 0;
  });
  if (target.process() < 0) {
    shared["read of a child"] = "not tried: fork: " + std::generic_category().message(errno);
    return;
  }
  tells.reset();
  char byte = 0;
  (void)!::read(hears.get(), &byte, 1);  // or its end: then the reads tell
  shared["read of a child"] = told(read_of(*own, target.process()));
  // So ranks of one launcher stand to each other.
  Child reader([&] { return static_cast<int>(read_of(*own, target.process())); });
  const int code = reader.process() < 0 ? -1 : reader.exit_code();
  shared["read of a sibling"] =
      code < 0 ? "not tried: the reader has failed" : told(static_cast<CrossRead>(code));
}

}  // namespace

Json describe_shared_memory() {
  Json shared;
  bool is_taken = false;
  for (const Segment::TriedWay& way : Segment::try_all_ways(probed_bytes)) {
    const bool works = way.why_not.empty();
    shared[way.name] = !works ? way.why_not : is_taken ? "works" : "works, and is taken";
    is_taken |= works;
  }
  add_cross_reads(shared);
  return shared;
}

}  // namespace parley::info
