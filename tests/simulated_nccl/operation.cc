#include "tests/simulated_nccl/operation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <span>
#include <thread>

#include "tests/simulated_nccl/fold.h"

namespace parley::nccl::testing {
namespace {

struct Aborted {};

// Pauses that grow: tests have more ranks than cores.
class Patience {
 public:
  explicit Patience(const Member& member) : member_(&member) {}
  void wait() {
    if (member_->is_aborted) throw Aborted();
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, std::chrono::microseconds(1000));
  }

 private:
  const Member* member_;
  std::chrono::microseconds pause_{20};
};

class Collective {
 public:
  Collective(Member& member, const Operation& of, const cuda::testing::KernelMemory& memory)
      : member_(member), of_(of), memory_(memory), element_bytes_(size_of(of.type)) {}

  void perform() {
    agree();
    const std::size_t blocks = of_.kind == Kind::reduce_scatter ? ranks() : 1;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t most = chunk_bytes / element_bytes_;
      for (std::size_t done = 0; done < of_.count; done += most)
        move_chunk(block, done, std::min(most, of_.count - done));
    }
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(member_.ranks); }
  [[nodiscard]] bool is_root() const { return member_.rank == of_.peer; }
  Meeting::Member& own() { return of_rank(member_.rank); }
  Meeting::Member& of_rank(int rank) { return member_.meeting.members[static_cast<std::size_t>(rank)]; }

  // All ranks have come to this step when it returns.
  void step() {
    own().steps.store(++member_.steps, std::memory_order_release);  // with what was written before
    for (int rank = 0; rank < member_.ranks; ++rank)
      for (Patience patience(member_); of_rank(rank).steps.load(std::memory_order_acquire) < member_.steps;)
        patience.wait();
  }

  // As NCCL, it does not tell who is in another collective; unlike NCCL, it never goes on then.
  void agree() {
    std::uint64_t signature = 1469598103934665603U;
    const bool has_root = of_.kind == Kind::reduce || of_.kind == Kind::broadcast;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(of_.kind), static_cast<std::uint64_t>(of_.count),
          static_cast<std::uint64_t>(of_.type),
          static_cast<std::uint64_t>(of_.factor.empty() ? static_cast<int>(of_.fold) : -1),
          static_cast<std::uint64_t>(has_root ? of_.peer : -1)})
      signature = (signature ^ part) * 1099511628211U;
    own().signature = signature;
    step();
    bool is_same = true;
    for (int rank = 0; rank < member_.ranks; ++rank) is_same &= of_rank(rank).signature == signature;
    step();
    if (is_same) return;
    ++member_.fabric.mismatches;
    for (Patience patience(member_);;) patience.wait();
  }

  [[nodiscard]] const std::byte* input(std::size_t first, std::size_t bytes) const {
    return static_cast<const std::byte*>(
        memory_.reach(static_cast<const std::byte*>(of_.from) + first * element_bytes_, bytes));
  }
  [[nodiscard]] std::byte* output(std::size_t first, std::size_t bytes) const {
    return static_cast<std::byte*>(
        memory_.reach(static_cast<std::byte*>(of_.to) + first * element_bytes_, bytes));
  }

  // Each rank gives what the others need, and takes what it needs.
  void move_chunk(std::size_t block, std::size_t first, std::size_t count) {
    const std::size_t bytes = count * element_bytes_;
    if (of_.kind != Kind::broadcast || is_root()) {
      std::memcpy(own().chunk.data(), input(block * of_.count + first, bytes), bytes);
      if (!of_.factor.empty()) scale(own().chunk.data(), of_.factor.data(), count, of_.type);
    }
    step();
    take(block, first, count, bytes);
    step();
  }

  void take(std::size_t block, std::size_t first, std::size_t count, std::size_t bytes) {
    switch (of_.kind) {
      case Kind::all_reduce: return fold_all(first, count, bytes);
      case Kind::reduce: return is_root() ? fold_all(first, count, bytes) : void();
      case Kind::reduce_scatter:
        return static_cast<int>(block) == member_.rank ? fold_all(first, count, bytes) : void();
      case Kind::broadcast: {
        std::memcpy(output(first, bytes), of_rank(of_.peer).chunk.data(), bytes);
        return;
      }
      case Kind::all_gather:
        for (std::size_t rank = 0; rank < ranks(); ++rank)
          std::memcpy(output(rank * of_.count + first, bytes), of_rank(static_cast<int>(rank)).chunk.data(),
                      bytes);
        return;
      case Kind::send:
      case Kind::receive: return;
    }
  }
  void fold_all(std::size_t first, std::size_t count, std::size_t bytes) {
    std::array<const std::byte*, most_ranks> operands{};
    for (int rank = 0; rank < member_.ranks; ++rank)
      operands[static_cast<std::size_t>(rank)] = of_rank(rank).chunk.data();
    fold(output(first, bytes), std::span(operands).first(ranks()), count, of_.type, of_.fold);
  }

  Member& member_;
  const Operation& of_;
  const cuda::testing::KernelMemory& memory_;
  const std::size_t element_bytes_;
};

// Of a send or receive.
Meeting::Mailbox& mailbox_of(const Member& member, const Operation& message) {
  const auto self = static_cast<std::size_t>(member.rank), peer = static_cast<std::size_t>(message.peer);
  return message.kind == Kind::send ? member.meeting.mail[self][peer] : member.meeting.mail[peer][self];
}

// One send or receive, which goes on as far as it can.
class Message {
 public:
  Message(Member& member, const Operation& of, const cuda::testing::KernelMemory& memory)
      : of_(of), memory_(memory), bytes_(of.count * size_of(of.type)), mailbox_(&mailbox_of(member, of)) {}

  [[nodiscard]] bool is_done() const { return done_ == bytes_; }
  [[nodiscard]] const Meeting::Mailbox* lane() const { return mailbox_; }
  [[nodiscard]] Kind kind() const { return of_.kind; }

  bool advance() {
    const std::uint64_t written = mailbox_->written.load(std::memory_order_acquire);  // its content
    const std::uint64_t read = mailbox_->read.load(std::memory_order_acquire);        // its room
    const bool is_full = written != read;
    if (is_full == (of_.kind == Kind::send)) return false;
    if (of_.kind == Kind::send) {
      const std::size_t bytes = mailbox_->bytes = std::min(bytes_ - done_, mail_bytes);
      std::memcpy(mailbox_->content.data(),
                  memory_.reach(static_cast<const std::byte*>(of_.from) + done_, bytes), bytes);
      done_ += bytes;
      mailbox_->written.store(written + 1, std::memory_order_release);
    } else {
      const std::size_t bytes = std::min(bytes_ - done_, mailbox_->bytes);
      std::memcpy(memory_.reach(static_cast<std::byte*>(of_.to) + done_, bytes), mailbox_->content.data(),
                  bytes);
      done_ += bytes;
      mailbox_->read.store(read + 1, std::memory_order_release);
    }
    return true;
  }

 private:
  const Operation& of_;
  const cuda::testing::KernelMemory& memory_;
  const std::size_t bytes_;
  Meeting::Mailbox* mailbox_;
  std::size_t done_ = 0;
};

// All together; those of one pair and direction one after another.
void exchange(Member& member, std::vector<Message>& messages) {
  for (Patience patience(member);;) {
    bool any_left = false, any_moved = false;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].is_done()) continue;
      any_left = true;
      const bool is_first = std::none_of(
          messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i), [&](const Message& earlier) {
            return !earlier.is_done() && earlier.kind() == messages[i].kind() &&
                   earlier.lane() == messages[i].lane();
          });
      any_moved |= is_first && messages[i].advance();
    }
    if (!any_left) return;
    if (any_moved) {
      if (member.is_aborted) throw Aborted();
      patience = Patience(member);
    } else {
      patience.wait();
    }
  }
}

}  // namespace

bool meets_itself(const Member& member, const std::vector<Operation>& operations) {
  std::vector<std::size_t> sent, received;
  for (const Operation& operation : operations)
    if (operation.is_message() && operation.peer == member.rank)
      (operation.kind == Kind::send ? sent : received).push_back(operation.count * size_of(operation.type));
  return sent == received;
}

void connect(const Member& member, const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    if (!operation.is_message()) continue;
    Meeting::Mailbox& mailbox = mailbox_of(member, operation);
    (operation.kind == Kind::send ? mailbox.has_sender : mailbox.has_receiver) = true;
  }
}

bool are_connected(const Member& member, const std::vector<Operation>& operations) {
  if (!member.fabric.connects_at_first_use) return true;
  return std::all_of(operations.begin(), operations.end(), [&](const Operation& operation) {
    if (!operation.is_message()) return true;
    const Meeting::Mailbox& mailbox = mailbox_of(member, operation);
    return operation.kind == Kind::send ? mailbox.has_receiver.load() : mailbox.has_sender.load();
  });
}

void perform(Member& member, std::uint64_t turn, const std::vector<Operation>& operations,
             const cuda::testing::KernelMemory& memory) {
  try {
    for (Patience patience(member); member.ended < turn;) patience.wait();
    // An aborted kernel leaves out of turn, or in the middle of a step, while others may read what it wrote.
    if (member.is_aborted) return;
    std::vector<Message> messages;
    for (const Operation& operation : operations)
      if (operation.is_message())
        messages.emplace_back(member, operation, memory);
      else
        Collective(member, operation, memory).perform();
    exchange(member, messages);
  } catch (const Aborted&) {
  }
}

}  // namespace parley::nccl::testing
