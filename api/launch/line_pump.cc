#include "api/launch/line_pump.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "api/launch/pipe.h"

namespace parley::launch {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} * 1024;
constexpr std::size_t tail_bytes = std::size_t{16} * 1024;
constexpr std::size_t tail_width_bytes = 500;
// The largest pipe an unprivileged process can make: all that a rank can have left behind.
constexpr std::size_t drain_bytes = std::size_t{1} << 20;

}  // namespace

LinePump::LinePump(base::UniqueFd source, std::string prefix, OutputQueue& queue, base::UniqueFd log)
    : source_(std::move(source)), log_(std::move(log)), formatter_(std::move(prefix)), queue_(&queue) {}

void LinePump::watch(PollSet& set) {
  // Nobody reads what this rank writes: let it find out by itself, as if it wrote there directly.
  if (queue_->broken()) source_.reset();
  watched_ = source_ && !queue_->full();
  if (watched_) place_ = set.add(source_.get(), POLLIN);
}

void LinePump::serve(const PollSet& set) {
  if (watched_ && set.events(place_) != 0 && read_once() == Got::end) end();
  watched_ = false;
}

void LinePump::drain() {
  if (!source_) return;
  for (std::size_t taken = 0; taken < drain_bytes && read_once() == Got::bytes; taken += read_bytes) continue;
  end();
}

LinePump::Got LinePump::read_once() {
  std::array<char, read_bytes> buffer;  // NOLINT(*-member-init): read(2) fills it
  const ssize_t got = read(source_.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Got::nothing : Got::end;
  if (got == 0) return Got::end;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  write_log(bytes);
  formatter_.feed(bytes, queue_->pending());
  tail_ += bytes;
  if (tail_.size() > 2 * tail_bytes) tail_.erase(0, tail_.size() - tail_bytes);
  return Got::bytes;
}

void LinePump::write_log(std::string_view bytes) {
  while (log_ && !bytes.empty()) {
    const ssize_t written = write_quietly(log_.get(), bytes);
    if (written < 0) {
      log_error_ = std::system_category().message(errno);
      log_.reset();
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LinePump::end() {
  formatter_.finish(queue_->pending());
  source_.reset();
  log_.reset();
}

std::string LinePump::last_lines(std::size_t count) const {
  return last_lines_of(tail_, count, tail_width_bytes);
}

std::string last_lines_of(std::string_view text, std::size_t count, std::size_t width_bytes) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < count) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    lines.push_back(text.substr(begin, width_bytes));
    text = text.substr(0, begin == 0 ? 0 : newline);
  }
  std::string joined;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!joined.empty()) joined += '\n';
    joined += *line;
  }
  return joined;
}

}  // namespace parley::launch
