#include "tests/multiprocess/traffic/receiver.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {
constexpr std::size_t most_pending = 24;
// Wildcards need room for the largest message that may come.
constexpr std::size_t wildcard_budget_bytes = std::size_t{128} << 20;
}  // namespace

Receiver::Receiver(ProcessGroup& world, const std::vector<PlannedMessage>& plan, const PlanOptions& options,
                   Mode mode, MemorySource make_memory)
    : world_(world),
      random_(options.seed * 31 + static_cast<std::uint64_t>(world.rank())),
      seed_(options.seed),
      mode_(mode),
      make_memory_(std::move(make_memory)) {
  for (const PlannedMessage& message : plan) {
    if (message.destination != world.rank()) continue;
    Stream& stream = streams_[{message.source, message.tag}];
    stream.expected_bytes.push_back(message.bytes);
    ++stream.unclaimed;
    ++unclaimed_;
  }
}

Receiver::Key Receiver::random_unclaimed() {
  auto at = std::next(streams_.begin(), static_cast<std::ptrdiff_t>(random_.below(streams_.size())));
  while (at->second.unclaimed == 0)
    if (++at == streams_.end()) at = streams_.begin();
  return at->first;
}

std::size_t Receiver::largest_left() const {
  std::size_t largest = 0;
  for (const auto& [key, stream] : streams_)
    for (const std::size_t bytes : stream.expected_bytes) largest = std::max(largest, bytes);
  return largest;
}

Receiver::Receive& Receiver::add(std::size_t capacity) {
  receives_.push_back({.capacity = capacity, .memory = make_memory_(capacity)});
  return receives_.back();
}

// REQUIRES: it is specific, or has room for every message.
void Receiver::end(Receive& receive) {
  try {
    receive.status = receive.work.wait();
  } catch (const TruncationError& error) {
    receive.is_truncated = true;
    receive.status.bytes = error.details().message_bytes;
  }
  receive.done = true;
}

void Receiver::claim(const RecvStatus& status) {
  Stream& stream = streams_[{status.source, status.tag}];
  expect(stream.unclaimed != 0, "a message that was not sent");
  --stream.unclaimed;
  --unclaimed_;
}

void Receiver::post_specific() {
  const Key key = random_unclaimed();
  Stream& stream = streams_[key];
  const std::size_t largest = *std::max_element(stream.expected_bytes.begin(), stream.expected_bytes.end());
  const bool is_tight = !may_be_taken_back(key.second) && random_.one_in(6);
  Receive& receive = add(is_tight ? random_.below(largest + 1) : largest);
  receive.status = {key.first, key.second, 0};  // which an error does not tell
  receive.work = world_.irecv(receive.memory->tensor(), key.first, {.tag = key.second});
  if (random_.one_in(10) && receive.work.cancel()) {
    expect_throws<CancelledError>([&] { receive.work.wait(); });
    receives_.pop_back();
    return;
  }
  --stream.unclaimed;
  --unclaimed_;
}

// A batch of receives from any source with any tag. What they get is known only when they are done.
void Receiver::post_wildcards() {
  const std::size_t capacity = largest_left();
  const std::size_t most = std::max<std::size_t>(1, wildcard_budget_bytes / (capacity + 1));
  const std::size_t count = std::min({unclaimed_, most, 1 + random_.below(16)});
  std::vector<Receive*> batch;
  std::vector<Work> works;
  for (std::size_t i = 0; i < count; ++i) {
    Receive& receive = *batch.emplace_back(&add(capacity));
    works.push_back(world_.irecv(receive.memory->tensor(), any_source, {.tag = any_tag}));
  }
  for (std::size_t left = count; left > 0; --left) {
    const std::size_t i = wait_any(works);
    batch[i]->work = std::move(works[i]);
    end(*batch[i]);
    claim(batch[i]->status);
    works.erase(works.begin() + static_cast<std::ptrdiff_t>(i));
    batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Receiver::receive_probed(int source, std::int64_t tag) {
  std::optional<Message> message;
  if (random_.one_in(2)) {
    message.emplace(world_.probe(source, {.tag = tag}));
  } else {
    while (!(message = world_.iprobe(source, {.tag = tag}))) continue;
  }
  Receive& receive = add(message->bytes());
  try {
    receive.status = message->recv(receive.memory->tensor());
  } catch (const CancelledError&) {  // by its sender, which sends it again
    return receives_.pop_back();
  }
  receive.done = true;
  claim(receive.status);
}

// One message, blocking, with or without wildcards.
void Receiver::receive_one() {
  const Key key = random_unclaimed();
  const bool wild = mode_ == Mode::wildcards_only;
  const int source = wild || random_.one_in(2) ? any_source : key.first;
  const std::int64_t tag = wild || random_.one_in(2) ? any_tag : key.second;
  if (random_.one_in(3)) return receive_probed(source, tag);
  Receive& receive = add(largest_left());
  receive.status = world_.recv(receive.memory->tensor(), source, {.tag = tag});
  receive.done = true;
  claim(receive.status);
}

void Receiver::advance() {
  if (unclaimed_ > 0 && receives_.size() < most_pending) post_specific();
  for (Receive& receive : receives_)
    if (!receive.done && receive.work.test()) end(receive);
  check_front();
}

void Receiver::wait_for_all() {
  for (Receive& receive : receives_)
    if (!receive.done) end(receive);
  check_front();
}

void Receiver::finish() {
  while (unclaimed_ > 0) {
    if (receives_.size() > most_pending) wait_for_all();
    const std::size_t kind = random_.below(4);
    if (kind == 0) {
      post_wildcards();
    } else if (kind == 1 && mode_ == Mode::all) {
      for (std::size_t i = random_.below(most_pending); i > 0 && unclaimed_ > 0; --i) post_specific();
      if (unclaimed_ > 0) receive_one();
    } else {
      receive_one();
    }
  }
  wait_for_all();
}

// Checks what is complete, in the order of posting.
void Receiver::check_front() {
  for (; !receives_.empty() && receives_.front().done; receives_.pop_front()) {
    const Receive& receive = receives_.front();
    Stream& stream = streams_[{receive.status.source, receive.status.tag}];
    const Content content(seed_, receive.status.source, world_.rank(), receive.status.tag, stream.index++);
    const std::string what = "message " + std::to_string(stream.index - 1) + " from rank " +
                             std::to_string(receive.status.source) + ", tag " +
                             std::to_string(receive.status.tag) + ", seed " + std::to_string(seed_);
    expect(!stream.expected_bytes.empty(), what + " was not sent");
    expect_equal(receive.status.bytes, stream.expected_bytes.front(), what + ", bytes");
    stream.expected_bytes.pop_front();
    expect(receive.is_truncated == (receive.status.bytes > receive.capacity), what + " has room enough");
    if (!receive.is_truncated)
      expect_equal(receive.memory->first_wrong(content, receive.status.bytes), receive.status.bytes,
                   what + ", first wrong byte");
    receive.memory->check_guard();
  }
}

}  // namespace parley::testing
