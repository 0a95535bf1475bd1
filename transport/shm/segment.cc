#include "transport/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "transport/base/log.h"

namespace parley::transport::shm {
namespace {

// The pages are there, and up to here they are entered into our page tables with the mapping: a fault for
// each page that is touched first would cost a message of 4 KiB as much as thirty later ones take.
constexpr std::size_t mapped_at_once = 16 << 20;

constexpr const char* memfd_word = "memfd";
constexpr unsigned no_exec_seal = 0x0008U;  // MFD_NOEXEC_SEAL, of Linux 6.3

// Older kernels end an allocation at any signal, and give back what this call has: in small pieces
// even a program with a fast timer gets on.
constexpr std::size_t allocation_piece_bytes = 1 << 20;

// One way to come by memory without a name.
struct Way {
  enum class Kind { memfd, unnamed_file, unlinked_file };
  Kind kind;
  std::string folder = {};  // of a file
  [[nodiscard]] std::string words() const {
    if (kind == Kind::memfd) return std::string(memfd_word);
    return (kind == Kind::unnamed_file ? "unnamed file in " : "unlinked file in ") + folder;
  }
};

// The best first.
std::vector<Way> all_ways() {
  std::vector<std::string> folders{"/tmp"};
  const char* own = secure_getenv("TMPDIR");
  if (own != nullptr && *own != '\0' && folders.front() != own) folders.insert(folders.begin(), own);
  std::vector<Way> ways{{Way::Kind::memfd}, {Way::Kind::unnamed_file, "/dev/shm"}};
  for (const Way::Kind kind : {Way::Kind::unnamed_file, Way::Kind::unlinked_file})
    for (const std::string& folder : folders) ways.push_back({kind, folder});
  return ways;
}

// A step that did not work, and its errno.
struct Refusal {
  const char* step;
  int error;
  [[nodiscard]] std::string words() const {
    return base::concat(step, ": ", std::system_category().message(error));
  }
};

base::UniqueFd open_memfd() {
  // It is not to be executed: systems that insist on that refuse one that could be.
  base::UniqueFd fd(memfd_create("parley", MFD_CLOEXEC | MFD_ALLOW_SEALING | no_exec_seal));
  if (!fd && errno == EINVAL) fd.reset(memfd_create("parley", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return fd;
}

base::UniqueFd open_unlinked(const std::string& folder) {
  std::string name = folder + "/parley-XXXXXX";
  base::UniqueFd fd(mkostemp(name.data(), O_CLOEXEC));
  if (fd && unlink(name.c_str()) != 0) fd.reset();
  return fd;
}

base::UniqueFd open_way(const Way& way) {
  switch (way.kind) {
    case Way::Kind::memfd: return open_memfd();
    case Way::Kind::unlinked_file: return open_unlinked(way.folder);
    case Way::Kind::unnamed_file: break;
  }
  // O_EXCL: it cannot be given a name later.
  return base::UniqueFd(open(way.folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

int allocate(int fd, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min(allocation_piece_bytes, bytes - done);
    const int error = posix_fallocate(fd, static_cast<off_t>(done), static_cast<off_t>(piece));
    if (error != 0 && error != EINTR) return error;
    if (error == 0) done += piece;
  }
  return 0;
}

std::optional<Refusal> make(const Way& way, std::size_t bytes, base::UniqueFd& fd) {
  const bool is_memfd = way.kind == Way::Kind::memfd;
  fd = open_way(way);
  if (!fd) return Refusal{is_memfd ? "memfd_create" : "open", errno};
  if (const int error = allocate(fd.get(), bytes)) return Refusal{"fallocate", error};
  if (is_memfd && fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Refusal{"sealing", errno};
  return std::nullopt;
}

// 0 for what no address space holds.
std::size_t in_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > PTRDIFF_MAX - page) return 0;
  return (bytes + page - 1) / page * page;
}

// Why no way can lead to so much memory; empty if one may. Both limits must be known before: at the first the
// kernel would send SIGXFSZ, beyond the second it would start to kill processes.
std::string hopeless(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    return base::concat("files of this process may have ", limit.rlim_cur, " bytes (ulimit -f)");
  struct sysinfo host {};
  if (sysinfo(&host) == 0) {
    const std::uint64_t all = (std::uint64_t{host.totalram} + host.totalswap) * host.mem_unit;
    if (bytes > all) return base::concat("this host has ", all, " bytes of memory");
  }
  return {};
}

// Whether this is a memfd. One that was made without leave to seal has the seals of a file in /dev/shm; then
// only its link in /proc tells.
bool is_memfd(int fd, int seals) {
  if (seals < 0) return false;
  if ((seals & F_SEAL_SEAL) == 0 || (seals & F_SEAL_SHRINK) != 0) return true;
  std::array<char, 64> link{};
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), link.data(), link.size());
  return length > 0 && std::string_view(link.data(), static_cast<std::size_t>(length)).starts_with("/memfd:");
}

// Once in a process, for each segment would tell the same. Its place may be small, or a disk's.
void say_it_is_no_memfd(const Segment& segment, const std::string& tried) {
  static std::atomic<bool> is_said{false};
  // relaxed: the exchange alone decides who says it; the flag guards no other data.
  if (is_said.exchange(true, std::memory_order_relaxed)) return;
  PARLEY_LOG(info, "shm", "shared memory lies in ", std::string(segment.how()), ": ", tried);
}

base::Failure refuse(const std::string& why) {
  return {base::Code::protocol_violation, "the peer's shared memory is refused: " + why};
}

}  // namespace

Segment::Segment(std::byte* data, std::size_t size, base::UniqueFd fd, std::string how) noexcept
    : data_(data), size_(size), fd_(std::move(fd)), how_(std::move(how)) {}

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, size_);
}

void Segment::swap(Segment& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  std::swap(how_, other.how_);
}

base::Result<Segment> Segment::map(base::UniqueFd fd, std::size_t size, std::string how) {
  const int now = size <= mapped_at_once ? MAP_POPULATE : 0;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | now, fd.get(), 0);
  if (memory == MAP_FAILED)
    return base::Failure{{base::Code::exhausted, errno}, Refusal{"mmap", errno}.words()};
  return Segment(static_cast<std::byte*>(memory), size, std::move(fd), std::move(how));
}

// `size`: whole pages. The failure's message says what did not work.
template <typename Way>
base::Result<Segment> Segment::create_by(const Way& way, std::size_t size) {
  base::UniqueFd fd;
  if (const auto refusal = make(way, size, fd))
    return base::Failure{{base::Code::exhausted, refusal->error}, refusal->words()};
  return map(std::move(fd), size, way.kind == Way::Kind::memfd ? std::string(memfd_word) : way.folder);
}

std::vector<Segment::TriedWay> Segment::try_all_ways(std::size_t bytes) {
  const std::size_t size = in_pages(bytes);
  const std::string hopeless_why = size == 0 ? "no address space holds them" : hopeless(size);
  std::vector<TriedWay> tried;
  for (const Way& way : all_ways()) {
    tried.push_back({way.words(), hopeless_why});
    if (!hopeless_why.empty()) continue;
    const base::Result<Segment> segment = create_by(way, size);
    if (!segment) tried.back().why_not = segment.failure().message;
  }
  return tried;
}

base::Result<Segment> Segment::create(std::size_t bytes) {
  if (bytes == 0) return base::Failure{base::Code::invalid_argument, "a shared memory of no bytes"};
  const std::string beginning = base::concat("cannot make shared memory of ", bytes, " bytes: ");
  const std::size_t size = in_pages(bytes);
  if (size == 0) return base::Failure{base::Code::exhausted, beginning + "no address space holds them"};
  if (const std::string why = hopeless(size); !why.empty())
    return base::Failure{base::Code::exhausted, beginning + why};

  std::string tried;
  for (const Way& way : all_ways()) {
    base::Result<Segment> segment = create_by(way, size);
    if (segment) {
      if (!tried.empty()) say_it_is_no_memfd(segment.value(), tried);
      return segment;
    }
    tried += base::concat(tried.empty() ? "" : "; ", way.words(), ": ", segment.failure().message);
  }
  return base::Failure{base::Code::exhausted, beginning + tried};
}

base::Result<Segment> Segment::attach(base::UniqueFd fd, std::size_t bytes) {
  const std::size_t size = in_pages(bytes);
  if (size == 0) return refuse(base::concat("it is said to have ", bytes, " bytes"));
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) return refuse(Refusal{"fstat", errno}.words());
  if (!S_ISREG(facts.st_mode)) return refuse("it is not a file");
  if (facts.st_nlink != 0) return refuse("it is a file with a name");
  if (facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) < size)
    return refuse(base::concat("it has ", facts.st_size, " bytes, and not ", size));
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  const bool of_memfd = is_memfd(fd.get(), seals);
  if (of_memfd && (seals & F_SEAL_SHRINK) == 0) return refuse("it could still shrink");
  base::Result<Segment> segment = map(std::move(fd), size, of_memfd ? std::string(memfd_word) : "file");
  if (!segment)
    return base::Failure{segment.failure().status,
                         "cannot map the peer's shared memory: " + segment.failure().message};
  return segment;
}

}  // namespace parley::transport::shm
