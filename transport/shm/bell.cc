#include "transport/shm/bell.h"

#include <sys/eventfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "transport/base/epoll.h"

namespace parley::transport::shm {
namespace {

BellPage* page_of(const Segment& segment) noexcept {
  return std::launder(reinterpret_cast<BellPage*>(segment.data()));
}

// An eventfd has no file type. A pipe or a socket, whose writer may be killed by SIGPIPE, has one.
bool may_be_event(int fd) noexcept {
  struct stat facts {};
  return fstat(fd, &facts) == 0 && (facts.st_mode & S_IFMT) == 0;
}

}  // namespace

OwnBell::OwnBell(Segment page, base::UniqueFd event) noexcept
    : page_(std::move(page)), event_(std::move(event)), shared_(page_of(page_)) {}

base::Result<OwnBell> OwnBell::create() {
  base::Result<Segment> page = Segment::create(sizeof(BellPage));
  if (!page) return page.failure();
  base::UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) {
    const int error = errno;
    return base::Failure{{base::Code::exhausted, error},
                         "cannot make a doorbell: eventfd: " + std::system_category().message(error)};
  }
  new (page.value().data()) BellPage{BellPage::awake};
  return OwnBell(std::move(page).value(), std::move(event));
}

void OwnBell::announce() noexcept {
  announced_ = true;
  // release: a signal for this sleep is not taken away by the clearing of the last one, which comes before.
  shared_->word.store(BellPage::asleep, std::memory_order_release);
  base::full_fence();
}

void OwnBell::cancel() noexcept {
  if (!std::exchange(announced_, false)) return;
  // relaxed: a writer that still finds `asleep` signals in vain, which invariant 4 allows.
  shared_->word.store(BellPage::awake, std::memory_order_relaxed);
  base::clear_event(event_);
}

PeerBell::PeerBell(std::shared_ptr<const Segment> page, base::UniqueFd event) noexcept
    : page_(std::move(page)), event_(std::move(event)), shared_(page_of(*page_)) {}

base::Result<PeerBell> PeerBell::attach(base::UniqueFd page, base::UniqueFd event) {
  base::Result<Segment> segment = Segment::attach(std::move(page), sizeof(BellPage));
  if (!segment) return segment.failure();
  if (!may_be_event(event.get()))
    return base::Failure{base::Code::protocol_violation,
                         "the peer's doorbell is refused: it is not an event descriptor"};
  segment.value().close_fd();
  try {
    return PeerBell(std::make_shared<const Segment>(std::move(segment).value()), std::move(event));
  } catch (const std::bad_alloc&) {
    return base::Failure{base::Code::exhausted, "out of memory"};
  }
}

void PeerBell::ring() noexcept {
  // relaxed: what matters is that one of us gets it; the eventfd's own lock orders the rest.
  if (shared_->word.exchange(BellPage::awake, std::memory_order_relaxed) != BellPage::awake)
    base::signal_event(event_);
}

}  // namespace parley::transport::shm
