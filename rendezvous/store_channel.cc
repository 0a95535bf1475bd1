#include "rendezvous/store_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

// The host ends a wait at its deadline and says which keys were missing. That answer gets this much longer to
// arrive before the caller hears only that there was none.
constexpr std::chrono::nanoseconds answer_grace = std::chrono::seconds(2);

std::string error_text(int error) {
  return std::generic_category().message(error);
}

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// Until `events` (of poll(2)), an error, or the deadline. A signal or a long deadline ends it earlier.
void wait_for(int socket, short events, base::Deadline deadline) noexcept {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(1);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min(deadline.remaining(), longest));
  pollfd entry{socket, events, 0};
  ::poll(&entry, 1, static_cast<int>(left.count()));
}

// Sleeps until notified or the deadline.
void sleep(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, base::Deadline deadline) {
  if (deadline.is_never())
    condition.wait(lock);
  else
    condition.wait_until(lock, deadline.when());
}

}  // namespace

StoreChannel::StoreChannel(socket::Connection connection, std::string peer, std::size_t max_body_bytes)
    : connection_(std::move(connection)), peer_(std::move(peer)), reader_(max_body_bytes) {}

StoreChannel::~StoreChannel() {
  // A child that was forked meanwhile may hold the socket open; the host shall see the end all the same. In
  // the child itself the connection is the parent's.
  if (!fork_guard_.in_child()) ::shutdown(connection_.descriptor(), SHUT_RDWR);
}

// relaxed: only the numbers must differ.
std::uint64_t StoreChannel::next_id() noexcept {
  return last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
}

base::Result<Frame> StoreChannel::call(std::uint64_t id, std::span<const std::byte> frame, Answer answer,
                                       std::chrono::nanoseconds timeout) {
  const auto begin = base::Deadline::at(base::Clock::now());
  const auto due = answer == Answer::at_once ? begin : base::Deadline::after(timeout);
  Call call;
  Lock lock(mutex_);
  if (silent_since_ && !reading_) {
    read_once(lock, begin);  // what has come since is not known yet
    pass_reading_on();
  }
  const auto deadline = last_moment(due, timeout);
  calls_.emplace(id, &call);
  if (take_write_turn(lock, deadline)) {
    send(lock, frame, deadline);
    await(lock, call, deadline);
  }
  calls_.erase(id);
  pass_reading_on();
  if (call.reply) return *std::move(call.reply);
  if (lost_) return base::Failure{base::Code::peer_died, base::concat("lost ", peer_, " (", *lost_, ")")};
  return no_answer(due);
}

base::Deadline StoreChannel::last_moment(base::Deadline due, std::chrono::nanoseconds timeout) const {
  const bool overflows = timeout > std::chrono::nanoseconds::max() - answer_grace;
  const auto latest = overflows ? base::Deadline::never() : base::Deadline::after(timeout + answer_grace);
  if (!silent_since_ || latest.is_never()) return latest;
  const auto waited = base::Clock::now() - *silent_since_;
  return base::Deadline::at(std::max(due.when(), latest.when() - waited));
}

base::Failure StoreChannel::no_answer(base::Deadline due) {
  auto text = base::concat("no answer from ", peer_);
  if (silent_since_) {
    const auto silence = std::chrono::floor<std::chrono::seconds>(base::Clock::now() - *silent_since_);
    text += base::concat(", silent for ", silence.count(), " s");
  } else if (last_heard_ <= due.when()) {
    silent_since_ = due.when();
  }
  return {base::Code::timed_out, std::move(text)};
}

// Whether it is our turn; otherwise the deadline passed or the host is lost.
bool StoreChannel::take_write_turn(Lock& lock, base::Deadline deadline) {
  while (writing_ && !lost_ && !deadline.expired()) sleep(write_turn_, lock, deadline);
  if (writing_ || lost_) {
    // The turn may have been offered to us while we gave up.
    write_turn_.notify_one();
    return false;
  }
  writing_ = true;
  return true;
}

void StoreChannel::send(Lock& lock, std::span<const std::byte> frame, base::Deadline deadline) {
  lock.unlock();
  int error = 0;
  const Sent sent = send_all(frame, deadline, error);
  lock.lock();
  writing_ = false;
  write_turn_.notify_one();
  if (sent == Sent::broken) lose_locked(error_text(error));
  // Whatever came next would be taken for the rest of this frame.
  if (sent == Sent::cut_short) lose_locked("a request could not be sent in full before its deadline");
}

StoreChannel::Sent StoreChannel::send_all(std::span<const std::byte> frame, base::Deadline deadline,
                                          int& error) {
  const std::size_t total = frame.size();
  while (!frame.empty()) {
    const ssize_t sent = connection_.send(frame.data(), frame.size());
    if (sent > 0) {
      frame = frame.subspan(static_cast<std::size_t>(sent));
    } else if (!would_block(errno)) {
      error = errno;
      return Sent::broken;
    } else if (deadline.expired()) {
      return frame.size() == total && !connection_.sending() ? Sent::nothing : Sent::cut_short;
    } else {
      wait_for(connection_.descriptor(), POLLOUT, deadline);
    }
  }
  return Sent::all;
}

void StoreChannel::await(Lock& lock, Call& call, base::Deadline deadline) {
  bool last_look = false;  // after the deadline, for a reply that has come already
  while (!call.reply && !lost_ && !last_look) {
    last_look = deadline.expired();
    if (!reading_) {
      read_once(lock, deadline);
    } else if (!last_look) {
      call.waiting = true;
      sleep(call.changed, lock, deadline);
      call.waiting = false;
    }
  }
}

void StoreChannel::read_once(Lock& lock, base::Deadline deadline) {
  reading_ = true;
  lock.unlock();
  if (!connection_.unread()) wait_for(connection_.descriptor(), POLLIN, deadline);
  const ssize_t received = connection_.receive(input_.data(), input_.size());
  const int error = received < 0 ? errno : 0;
  lock.lock();
  reading_ = false;
  if (received > 0) {
    last_heard_ = base::Clock::now();
    silent_since_.reset();
    deliver(std::span(input_).first(static_cast<std::size_t>(received)));
  } else if (received == 0)
    lose_locked("its host closed the connection");
  else if (!would_block(error))
    lose_locked(error_text(error));
}

void StoreChannel::deliver(std::span<const std::byte> bytes) try {
  Frame frame;
  for (;;) {
    switch (reader_.step(bytes, frame)) {
      case FrameReader::Step::more: return;
      case FrameReader::Step::violation: return lose_locked(reader_.problem());
      case FrameReader::Step::frame: break;
    }
    const auto call = calls_.find(frame.id);
    if (call == calls_.end()) continue;  // it was given up
    call->second->reply = std::move(frame);
    call->second->changed.notify_one();
  }
} catch (const std::bad_alloc&) {
  lose_locked("out of memory");
}

void StoreChannel::lose(const std::string& reason) {
  const Lock lock(mutex_);
  lose_locked(reason);
}

void StoreChannel::lose_locked(const std::string& reason) {
  if (lost_) return;
  lost_ = reason;
  ::shutdown(connection_.descriptor(), SHUT_RDWR);  // wakes the threads that read or write
  for (const auto& [id, call] : calls_) call->changed.notify_one();
  write_turn_.notify_all();
  PARLEY_LOG(info, "store", "lost the store at ", peer_, ": ", reason);
}

void StoreChannel::pass_reading_on() {
  if (reading_) return;
  const auto next = std::ranges::find_if(
      calls_, [](const auto& entry) { return entry.second->waiting && !entry.second->reply; });
  if (next != calls_.end()) next->second->changed.notify_one();
}

}  // namespace parley::rendezvous
