#include "tests/multiprocess/traffic/sender.h"

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

Sender::Sender(ProcessGroup& world, const std::vector<PlannedMessage>& plan, const PlanOptions& options,
               MemorySource make_memory)
    : world_(world), seed_(options.seed), make_memory_(std::move(make_memory)) {
  for (const PlannedMessage& message : plan)
    if (message.source == world.rank()) messages_.push_back(message);
}

std::unique_ptr<MessageMemory> Sender::next_content() {
  if (next_ == messages_.size()) return nullptr;
  const PlannedMessage& message = messages_[next_];
  const std::uint64_t index = index_[{message.destination, message.tag}]++;
  std::unique_ptr<MessageMemory> memory = make_memory_(message.bytes);
  memory->fill(Content(seed_, message.source, message.destination, message.tag, index));
  return memory;
}

Work Sender::start(const PlannedMessage& message, const MessageMemory& memory) {
  return world_.isend(memory.tensor(), message.destination,
                      {.tag = message.tag, .synchronous = message.synchronous});
}

bool Sender::advance() {
  sends_.remove_if([](Send& send) {
    if (!send.work.test()) return false;
    send.work.wait();  // throws the error, if it ended in one
    return true;
  });
  std::unique_ptr<MessageMemory> memory = next_content();
  if (memory == nullptr) return false;
  const PlannedMessage& message = messages_[next_++];
  Work work = start(message, *memory);
  if (message.taken_back && work.cancel()) {
    expect_throws<CancelledError>([&] { work.wait(); });
    work = start(message, *memory);
  }
  sends_.push_back({std::move(memory), std::move(work)});
  return true;
}

void Sender::finish() {
  for (Send& send : sends_) send.work.wait();
  sends_.clear();
}

void Sender::send_blocking() {
  while (const auto memory = next_content()) {
    const PlannedMessage& message = messages_[next_++];
    world_.send(memory->tensor(), message.destination,
                {.tag = message.tag, .synchronous = message.synchronous});
  }
}

}  // namespace parley::testing
