#include "tests/model/simulated_memory.h"

#include <algorithm>

namespace parley::transport::shm::model {
namespace {

template <typename T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

World::World(RingShape shape, std::uint32_t first_lap, std::size_t more_bytes)
    : shape_(shape),
      bytes_(ring_bytes(shape) + more_bytes),
      marks_((ring_bytes(shape) + more_bytes) / granule) {
  words_.assign(counts, {Message{0, 0, false}});
  words_.resize(counts + shape.cells, {Message{pack_word(first_lap - 1, RecordKind{}, 0), 0, false}});
}

std::size_t World::word_at(std::size_t offset) const {
  if (offset < sizeof(ReaderCounts)) return offset / sizeof(std::uint64_t);
  return counts + (offset - sizeof(ReaderCounts)) / sizeof(Cell);
}

std::size_t World::oldest(Side side, const std::vector<Message>& messages) const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < messages.size(); ++i)
    if (messages[i].epoch <= known_[index_of(side)]) found = i;
  return found;
}

std::size_t World::choices(Side side, const Operation& operation) const {
  if (operation.kind != Operation::Kind::load) return 1;
  const auto& messages = words_[word_at(operation.offset)];
  return messages.size() - oldest(side, messages);
}

std::string World::apply(Side side, const Operation& operation, std::size_t choice, Log& log) {
  const auto answer = [&log](const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    log.answers.insert(log.answers.end(), begin, begin + bytes);
  };
  ++log.operations;
  switch (operation.kind) {
    case Operation::Kind::load: {
      auto& messages = words_[word_at(operation.offset)];
      // Only one side loads a word: what it has passed nobody will read.
      messages.erase(messages.begin(),
                     messages.begin() + static_cast<std::ptrdiff_t>(oldest(side, messages) + choice));
      const Message& message = messages.front();
      std::uint8_t& known = known_[index_of(side)];
      if (operation.ordered && message.releases) known = std::max(known, message.epoch);
      answer(&message.value, sizeof(message.value));
      return {};
    }
    case Operation::Kind::store: {
      std::uint8_t& epoch = epoch_[index_of(side)];
      words_[word_at(operation.offset)].push_back({operation.value, epoch, operation.ordered});
      if (operation.ordered && ++epoch == 255) return "the program is too long for this model";
      return {};
    }
    case Operation::Kind::write: {
      std::copy(operation.data.begin(), operation.data.end(),
                bytes_.begin() + static_cast<std::ptrdiff_t>(operation.offset));
      return access(side, operation);
    }
    case Operation::Kind::read: {
      answer(bytes_.data() + operation.offset, operation.bytes);
      return access(side, operation);
    }
  }
  return "no such operation";
}

std::string World::access(Side side, const Operation& operation) {
  const bool writes = operation.kind == Operation::Kind::write;
  if (writes != (side == Side::writer))
    return "plain bytes are for the writer to write and the reader to read";
  for (std::size_t i = operation.offset / granule; i <= (operation.offset + operation.bytes - 1) / granule;
       ++i) {
    Mark& mark = marks_[i];
    if ((writes ? mark.read : mark.written) > known_[index_of(side)])
      return std::string("race: ") + (writes ? "written" : "read") + " at " + std::to_string(i * granule) +
             " without knowing that the other side is done with it";
    (writes ? mark.written : mark.read) = epoch_[index_of(side)];
  }
  return {};
}

void World::append_to(std::string& key) const {
  for (const auto& messages : words_) {
    append(key, messages.size());
    for (const Message& message : messages) {
      append(key, message.value);
      append(key, message.epoch);
      append(key, message.releases);
    }
  }
  key.append(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  key.append(reinterpret_cast<const char*>(marks_.data()), marks_.size() * sizeof(Mark));
  append(key, epoch_);
  append(key, known_);
}

void Run::perform(Operation operation, const void* at, void* answer) {
  const bool answers = operation.kind == Operation::Kind::load || operation.kind == Operation::Kind::read;
  if (replayed_ < log_.operations) {
    ++replayed_;
    if (!answers) return;
    std::memcpy(answer, log_.answers.data() + read_, operation.bytes);
    read_ += operation.bytes;
    return;
  }
  if (answers) std::memset(answer, 0, operation.bytes);
  if (pending_) return;
  pending_ = true;
  operation_ = std::move(operation);
  operation_.offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - memory_);
}

}  // namespace parley::transport::shm::model
