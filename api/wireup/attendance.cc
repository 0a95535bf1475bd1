#include "api/wireup/attendance.h"

#include <parley/error.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/wireup/round.h"
#include "api/wireup/world.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Of what is asked only to tell people.
constexpr auto telling_patience = std::chrono::seconds(1);
// For the store to say which keys are not there yet.
constexpr auto answer_time = std::chrono::milliseconds(10);

// The number after the last slash; -1 if there is none.
int rank_in(const std::string& key) {
  int rank = -1;
  std::from_chars(key.data() + key.rfind('/') + 1, key.data() + key.size(), rank);
  return rank;
}

}  // namespace

Attendance::Attendance(Store& store, int rank, int world_size, std::int64_t round, base::Deadline deadline,
                       std::string advice)
    : store_(store),
      rank_(rank),
      world_size_(world_size),
      round_(round),
      deadline_(deadline),
      advice_(std::move(advice)),
      next_reminder_(base::Deadline::after(reminder_period)),
      seen_("nothing is known of the other ranks") {}

// `note` takes in what the store says at a timeout.
template <typename Note>
bool Attendance::wait_for(const std::vector<std::string>& keys, base::Deadline until, const Note& note) {
  for (;;) {
    try {
      store_.wait(keys, earliest(earliest(deadline_, until), next_reminder_).remaining());
      return true;
    } catch (const StoreTimeoutError& error) {
      note(error);
    }
    if (deadline_.expired()) {
      ErrorDetails details;
      details.rank = rank_;
      details.operation = "init";
      throw InitError(
          base::concat("init timed out on rank ", rank_, " of ", world_size_, ": ", standing(), advice_),
          details);
    }
    if (next_reminder_.expired()) {
      PARLEY_LOG(warn, "init", "still waiting, ", standing());
      next_reminder_ = base::Deadline::after(reminder_period);
    }
    if (until.expired()) return false;
  }
}

bool Attendance::await(const std::vector<std::string>& keys, base::Deadline until) {
  return wait_for(keys, until, [this](const StoreTimeoutError& error) {
    note_missing(error.details().keys, error.what());
  });
}

bool Attendance::await_rank_0(const std::string& key, const std::string& own, const Keys& keys,
                              base::Deadline until) {
  return wait_for({own, key}, until, [&](const StoreTimeoutError& error) {
    const auto& absent = error.details().keys;
    const bool answered = std::find(absent.begin(), absent.end(), own) == absent.end();
    if (!answered) return note_missing({own}, error.what());
    if (deadline_.expired() || next_reminder_.expired()) find_missing(keys());
  });
}

void Attendance::find_missing(const std::vector<std::string>& keys) {
  try {
    store_.wait(keys, answer_time);
    note_missing({keys.front()}, {});
  } catch (const StoreTimeoutError& error) {
    note_missing(error.details().keys, error.what());
  }
}

// A store that answers does not miss what we have set. One that gives no answer has all keys named.
void Attendance::note_missing(const std::vector<std::string>& keys, const std::string& text) {
  std::vector<bool> is_missing(static_cast<std::size_t>(world_size_));
  for (const auto& key : keys)
    if (const int rank = rank_in(key); rank >= 0 && rank < world_size_)
      is_missing[static_cast<std::size_t>(rank)] = true;
  const bool answered = !is_missing[static_cast<std::size_t>(rank_)];
  silence_ = answered ? "" : text;
  if (!answered) return;
  std::string missing;
  std::string present;
  for (int rank = 0; rank < world_size_; ++rank) {
    std::string& list = is_missing[static_cast<std::size_t>(rank)] ? missing : present;
    list += (list.empty() ? "" : ", ") + std::to_string(rank);
  }
  // A store of the program's own kind may not say.
  seen_ = base::concat("missing ranks: ", missing.empty() ? "not told by the store" : missing,
                       "; joined: ", missing.empty() ? std::to_string(rank_) : present);
}

std::string Attendance::standing() {
  if (!silence_.empty()) return base::concat("the store gives no answer (", silence_, "), before: ", seen_);
  std::string refused;
  try {
    refused = read_refusals(store_, round_, base::Deadline::after(telling_patience));
  } catch (const StoreError& error) {
    PARLEY_LOG(debug, "init", "the notes of refusals cannot be read: ", error.what());
  }
  return refused.empty() ? seen_ : base::concat(seen_, "; refused: ", refused);
}

}  // namespace parley::wireup
