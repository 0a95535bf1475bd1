#include "api/launch/job_output.h"

#include <fcntl.h>
#include <parley/error.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "api/launch/pipe.h"

namespace parley::launch {
namespace {

// Six colours that can be read on dark and on light terminals.
constexpr std::array<const char*, 6> colours{"\x1b[36m", "\x1b[33m", "\x1b[32m",
                                             "\x1b[35m", "\x1b[34m", "\x1b[31m"};

bool wants_colour(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::string log_path(const std::string& directory, std::size_t rank, const char* suffix) {
  return directory + "/rank-" + std::to_string(rank) + suffix;
}

}  // namespace

JobOutput::JobOutput(const OutputOptions& options) : options_(options), output_(options.output_fd) {
  if (!same_file(options.output_fd, options.error_fd)) separate_errors_.emplace(options.error_fd);
  if (options.log_dir.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(options.log_dir, failure);
  if (failure)
    throw SystemError("cannot make the log directory " + options.log_dir + ": " + failure.message());
}

void JobOutput::add_rank(base::UniqueFd output, base::UniqueFd errors_of_rank) {
  const std::size_t rank = first_rank_ + ranks_.size();
  ranks_.push_back(
      {LinePump(std::move(output), prefix(rank, options_.output_fd), output_, open_log(rank, ".out")),
       LinePump(std::move(errors_of_rank), prefix(rank, options_.error_fd), errors(),
                open_log(rank, ".err"))});
}

void JobOutput::watch(PollSet& set) {
  output_.watch(set);
  if (separate_errors_) separate_errors_->watch(set);
  for (Rank& rank : ranks_) {
    rank.output.watch(set);
    rank.errors.watch(set);
  }
}

void JobOutput::serve(const PollSet& set) {
  for (Rank& rank : ranks_) {
    rank.output.serve(set);
    rank.errors.serve(set);
  }
  output_.serve(set);
  if (separate_errors_) separate_errors_->serve(set);
}

void JobOutput::drain() {
  for (Rank& rank : ranks_) {
    rank.output.drain();
    rank.errors.drain();
  }
}

bool JobOutput::flushed() const noexcept {
  return output_.settled() && (!separate_errors_ || separate_errors_->settled());
}

std::string JobOutput::last_error_lines(int place, std::size_t count) const {
  return ranks_[static_cast<std::size_t>(place)].errors.last_lines(count);
}

std::string JobOutput::log_complaints() const {
  std::string lines;
  for (std::size_t place = 0; place < ranks_.size(); ++place) {
    const auto complain = [&](const LinePump& pump, const char* suffix) {
      if (pump.log_error().empty()) return;
      lines += log_path(options_.log_dir, first_rank_ + place, suffix) +
               " is incomplete: " + pump.log_error() + '\n';
    };
    complain(ranks_[place].output, ".out");
    complain(ranks_[place].errors, ".err");
  }
  return lines;
}

std::string JobOutput::prefix(std::size_t rank, int fd) const {
  if (!options_.prefix) return {};
  const std::string plain = "[" + std::to_string(rank) + "]";
  if (!wants_colour(fd)) return plain + ' ';
  return colours[rank % colours.size()] + plain + "\x1b[0m ";
}

base::UniqueFd JobOutput::open_log(std::size_t rank, const char* suffix) const {
  if (options_.log_dir.empty()) return {};
  const std::string path = log_path(options_.log_dir, rank, suffix);
  base::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) throw_system_error("cannot write " + path);
  return file;
}

}  // namespace parley::launch
