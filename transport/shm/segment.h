#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace parley::transport::shm {

// Memory that processes of one host share. It has no name: only who is handed the descriptor can map it, and
// the kernel frees it with the last descriptor and the last mapping, however their processes end.
//
// A forked child inherits the mapping, and its parent's rings with it. That is left so: a child may well read
// a tensor that lies there, and with MADV_DONTFORK there would be a hole in the child's addresses, which
// something else may come to fill before the child's copy of this object unmaps it. What must not happen, a
// child that writes to the rings, is refused above (base::ForkGuard). The memory lives as long as the child.
//
// Thread-safety: none for the object; the memory is what its users make of it.
class Segment {
 public:
  // `bytes`, rounded up to whole pages, zeroed, readable and writable. All pages are allocated now, so that
  // memory that is short is a failure here and not a SIGBUS later. (The limit of a cgroup is different: there
  // the kernel kills, as it does for all memory.) The descriptor is close-on-exec.
  // Tries memfd_create(2), sealed against any change of size; then a file without a name in /dev/shm, in
  // $TMPDIR and in /tmp; at last a file that is unlinked as soon as it is made, in $TMPDIR or /tmp: only
  // there a process killed between these two calls leaves something behind, an empty file "parley-XXXXXX".
  // Fails with `exhausted`, naming all that was tried, or `invalid_argument` for no bytes.
  static base::Result<Segment> create(std::size_t bytes);

  // Tries each way of create(), not only those up to the first that works; in their order.
  struct TriedWay {
    std::string name;     // "memfd", "unnamed file in /dev/shm"
    std::string why_not;  // "open: Permission denied"; empty: it works
  };
  static std::vector<TriedWay> try_all_ways(std::size_t bytes);

  // Maps the segment of another process, of which at least `bytes`, rounded up to pages, must be there.
  // Refuses what could bring SIGBUS by mistake: what is no file, what has a name, what is too short, and a
  // memfd that could still shrink. A file of the later ways of create() cannot be sealed and is accepted:
  // only processes of the same user come as far as handing over a descriptor, and those can kill us anyway.
  // Fails with `protocol_violation`, or with `exhausted` when it cannot be mapped.
  static base::Result<Segment> attach(base::UniqueFd fd, std::size_t bytes);

  // Nothing, until one is moved here.
  Segment() noexcept = default;
  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept {
    Segment(std::move(other)).swap(*this);
    return *this;
  }
  ~Segment();

  // Starts on a page.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  // Whole pages.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // To hand over; -1 after close_fd().
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // The mapping stays.
  void close_fd() noexcept { fd_.reset(); }
  // Where the memory comes from, for reports: "memfd", "/dev/shm", "/tmp"; for an attached one "memfd" or
  // "file".
  [[nodiscard]] std::string_view how() const noexcept { return how_; }

 private:
  Segment(std::byte* data, std::size_t size, base::UniqueFd fd, std::string how) noexcept;
  template <typename Way>
  static base::Result<Segment> create_by(const Way& way, std::size_t size);
  static base::Result<Segment> map(base::UniqueFd fd, std::size_t size, std::string how);
  void swap(Segment& other) noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  base::UniqueFd fd_;
  std::string how_;
};

}  // namespace parley::transport::shm
