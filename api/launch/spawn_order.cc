#include "api/launch/spawn_order.h"

#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "api/launch/pipe.h"
#include "transport/base/env.h"

namespace parley::launch {
namespace {

bool is_there(const Arrival& arrival) noexcept {
  struct stat info {};
  return fstat(arrival.fd, &info) == 0 && S_ISFIFO(info.st_mode) && info.st_ino == arrival.inode;
}

std::optional<SpawnOrder> read_own_order() {
  const auto text = base::env_string(spawn_order_variable);
  if (!text) return std::nullopt;
  std::optional<SpawnOrder> order = decode_spawn_order(*text);
  return order && order->launcher == getppid() ? order : std::nullopt;
}

// By this, own_spawn_order() is first called while the library is loaded.
[[maybe_unused]] const bool has_order_at_load = own_spawn_order().has_value();

}  // namespace

std::string encode(const SpawnOrder& order) {
  std::ostringstream text;
  text << order.launcher << ' ' << order.rank << ' ' << order.count << ' ' << order.arrival.fd << ' '
       << order.arrival.inode;
  for (const int end : order.earlier) text << ' ' << end;
  return text.str();
}

std::optional<SpawnOrder> decode_spawn_order(const std::string& text) {
  std::istringstream stream(text);
  SpawnOrder order;
  stream >> order.launcher >> order.rank >> order.count >> order.arrival.fd >> order.arrival.inode;
  if (!stream) return std::nullopt;
  for (int end = 0; stream >> end;) order.earlier.push_back(end);
  // Else it was no number that ended the list.
  return stream.eof() ? std::optional(std::move(order)) : std::nullopt;
}

const std::optional<SpawnOrder>& own_spawn_order() {
  static const std::optional<SpawnOrder> order = read_own_order();
  return order;
}

void report_arrival(int count) {
  const SpawnOrder& order = *own_spawn_order();
  if (count != order.count)
    throw UsageError("spawn: this call wants " + std::to_string(count) + " processes, and this is one of " +
                     std::to_string(order.count) + ": the program has come another way than its parent did");
  if (getppid() != order.launcher)
    throw UsageError("spawn: this process is not the one that was started for this call, but a fork of it");
  if (!is_there(order.arrival))
    throw UsageError("spawn: the program has closed descriptor " + std::to_string(order.arrival.fd) +
                     ", on which it tells its parent that it has come here");
  const base::UniqueFd arrival(order.arrival.fd);
  (void)write_quietly(arrival.get(), "!");
  ::unsetenv(spawn_order_variable);
}

}  // namespace parley::launch
