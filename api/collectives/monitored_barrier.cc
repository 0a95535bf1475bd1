// By messages with rank 0: each rank tells it that it has come, and is told how it went. They have a context
// of their own, and the number of this call as their tag.
#include <parley/error.h>
#include <parley/process_group.h>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "api/checks.h"
#include "api/operation.h"
#include "api/posting.h"
#include "transport/base/log.h"

namespace parley {

using base::concat;
using detail::FailedOperation;
using detail::GroupState;
using detail::PendingOperation;

namespace {

constexpr auto operation_name = "monitored_barrier";
// Of what rank 0 says: why it failed, nothing if all have come.
constexpr std::size_t most_bytes = 1024;

struct Letter {
  const GroupState& group;
  std::int64_t tag;

  [[nodiscard]] FailedOperation description(int rank, std::size_t bytes) const {
    return {operation_name, group.all_contexts.monitored_barriers, group.process_of(rank), tag, bytes};
  }
  // `pending`: where what has not ended stays.
  void send(std::deque<PendingOperation>& pending, int rank, std::string_view text,
            std::chrono::nanoseconds timeout) const {
    transport::SendSpec spec;
    spec.destination = static_cast<std::uint32_t>(group.process_of(rank));
    spec.context = group.all_contexts.monitored_barriers;
    spec.tag = tag;
    spec.data = reinterpret_cast<const std::byte*>(text.data());
    spec.bytes = text.size();
    spec.timeout = timeout;
    finish_posting(pending, rank, text.size(), group.world->engine->send(spec, false));
  }
  void receive(std::deque<PendingOperation>& pending, int rank, std::span<std::byte> into,
               std::chrono::nanoseconds timeout, bool gives_up) const {
    transport::ReceiveSpec spec;
    spec.pattern = {group.all_contexts.monitored_barriers, static_cast<std::uint32_t>(group.process_of(rank)),
                    tag};
    spec.data = into.data();
    spec.capacity_bytes = into.size();
    spec.timeout = timeout;
    spec.gives_up = gives_up;
    finish_posting(pending, rank, into.size(), group.world->engine->receive(spec, false));
  }

 private:
  void finish_posting(std::deque<PendingOperation>& pending, int rank, std::size_t bytes,
                      const transport::Posted& posted) const {
    if (posted.request != nullptr)
      pending.emplace_back(detail::Operation::within_call(group, *posted.request, description(rank, bytes)));
    else if (posted.status.failed())
      detail::throw_failure(group, description(rank, bytes), posted.status);
  }
};

// "rank 3", "ranks 3, 5".
std::string text_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += concat(i == 0 ? "" : ", ", ranks[i]);
  return text;
}

// In ranks of the world, as errors have them.
std::vector<int> wait_for_others(const Letter& letter, const MonitoredBarrierOptions& options) {
  const GroupState& group = letter.group;
  std::deque<PendingOperation> pending;
  for (int rank = 1; rank < group.size; ++rank)
    letter.receive(pending, rank, {}, options.timeout.value_or(group.world->timeout),
                   detail::gives_up(options.timeout));
  std::vector<int> missing;
  for (int rank = 1; rank < group.size; ++rank) try {
      pending[static_cast<std::size_t>(rank - 1)].finish();
    } catch (const TimeoutError&) {
      missing.push_back(group.process_of(rank));
    }
  return missing;
}

// As far as it can: who cannot be told finds out by itself.
void tell_others(const Letter& letter, std::string_view text) {
  for (int rank = 1; rank < letter.group.size; ++rank) try {
      std::deque<PendingOperation> pending;
      letter.send(pending, rank, text.substr(0, most_bytes), wireup::default_linger);
      for (PendingOperation& operation : pending) operation.finish();
    } catch (const Error& error) {
      PARLEY_LOG(debug, "p2p", operation_name, ": ", error.what());
    }
}

ErrorDetails details_of(const GroupState& group, int culprit) {
  ErrorDetails details;
  details.rank = group.world->rank;
  details.culprit = culprit;
  details.operation = operation_name;
  return details;
}

void monitor(const Letter& letter, const MonitoredBarrierOptions& options) {
  std::vector<int> missing;
  try {
    missing = wait_for_others(letter, options);
  } catch (const Error& error) {
    tell_others(letter, error.what());
    throw;
  }
  const std::string text =
      missing.empty() ? "" : concat(text_of(missing), missing.size() == 1 ? " has" : " have", " not come");
  tell_others(letter, text);
  if (missing.empty()) return;
  throw TimeoutError(concat("rank ", letter.group.world->rank, ": ", operation_name, " timed out: ", text),
                     details_of(letter.group, missing.front()));
}

void report(const Letter& letter) {
  const GroupState& group = letter.group;
  std::deque<PendingOperation> pending;
  std::array<std::byte, most_bytes> answer;
  letter.receive(pending, 0, answer, group.world->timeout, false);
  try {
    letter.send(pending, 0, {}, group.world->timeout);
  } catch (const Error& error) {
    // Rank 0 may have left since it gave up on us: then its answer is here, else the receive says it better.
    PARLEY_LOG(debug, "p2p", operation_name, ": ", error.what());
  }
  const std::size_t bytes = pending.front().finish().bytes;
  if (bytes == 0) return;
  const int first = group.process_of(0);
  throw TimeoutError(
      concat("rank ", group.world->rank, ": ", operation_name, " failed on ", group.world->name_of(first),
             ": ", std::string_view(reinterpret_cast<const char*>(answer.data()), bytes)),
      details_of(group, first));
}

}  // namespace

void ProcessGroup::monitored_barrier(const MonitoredBarrierOptions& options) {
  GroupState& group = detail::require_member(state_, operation_name);
  // relaxed: it only counts; the calls of one group are in one order.
  const Letter letter{group, group.monitored_barriers.fetch_add(1, std::memory_order_relaxed)};
  group.rank == 0 ? monitor(letter, options) : report(letter);
}

}  // namespace parley
