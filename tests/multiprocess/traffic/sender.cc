#include "tests/multiprocess/traffic/sender.h"

namespace parley::testing {

Sender::Sender(ProcessGroup& world, const std::vector<PlannedMessage>& plan, const PlanOptions& options)
    : world_(world), seed_(options.seed) {
  for (const PlannedMessage& message : plan)
    if (message.source == world.rank()) messages_.push_back(message);
}

std::unique_ptr<std::byte[]> Sender::next_content() {
  if (next_ == messages_.size()) return nullptr;
  const PlannedMessage& message = messages_[next_];
  const std::uint64_t index = index_[{message.destination, message.tag}]++;
  std::unique_ptr<std::byte[]> memory(new std::byte[message.bytes + 1]);
  Content(seed_, message.source, message.destination, message.tag, index).fill(memory.get(), message.bytes);
  return memory;
}

bool Sender::advance() {
  sends_.remove_if([](Send& send) {
    if (!send.work.test()) return false;
    send.work.wait();  // throws the error, if it ended in one
    return true;
  });
  std::unique_ptr<std::byte[]> memory = next_content();
  if (memory == nullptr) return false;
  const PlannedMessage& message = messages_[next_++];
  const void* data = memory.get();
  const Tensor tensor = Tensor::bytes(data, message.bytes);
  Work work =
      world_.isend(tensor, message.destination, {.tag = message.tag, .synchronous = message.synchronous});
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
    const void* data = memory.get();
    world_.send(Tensor::bytes(data, message.bytes), message.destination,
                {.tag = message.tag, .synchronous = message.synchronous});
  }
}

}  // namespace parley::testing
