#include "tests/multiprocess/programs/exchange.h"

#include <utility>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {
namespace {

constexpr std::size_t largest_batch = 10;
constexpr std::uint64_t most_starts = 3;

Content content_of(std::uint64_t seed, const PlannedTransfer& transfer) {
  return {seed, transfer.source, transfer.destination, transfer.tag, transfer.index};
}

bool takes_what_comes(ReceiveWay way) {
  return way == ReceiveWay::any_source || way == ReceiveWay::probe;
}

// In which rounds a message is sent: in those below this number. Both its ranks compute it.
std::uint64_t starts_of(std::uint64_t seed, const PlannedTransfer& transfer) {
  return 1 + Random(seed ^ (transfer.index << 20)).below(most_starts);
}

// The same with a content of its own.
PlannedTransfer in_round(PlannedTransfer transfer, std::uint64_t round) {
  transfer.index |= round << 40;
  return transfer;
}

}  // namespace

RankExchange::RankExchange(std::map<int, ProcessGroup>& groups, std::uint64_t seed, std::size_t statement,
                           int process)
    : groups_(groups),
      seed_(seed),
      statement_(statement),
      random_(seed ^ (statement << 32) ^ static_cast<std::uint64_t>(process)) {}

void RankExchange::add_send(const PlannedTransfer& transfer) {
  sends_.push_back(transfer);
}

void RankExchange::add_receive(const PlannedTransfer& transfer) {
  const ReceiveWay way = receive_way(seed_, statement_, transfer.group, transfer.destination);
  if (takes_what_comes(way)) unclaimed_[{transfer.group, transfer.source}].push_back(transfer);
  std::size_t& largest = largest_[transfer.group];
  largest = std::max(largest, transfer.bytes);
  if (way == ReceiveWay::probe)
    probed_.push_back(transfer);
  else
    receives_.push_back(transfer);
}

void RankExchange::run() {
  while (!sends_.empty() || !receives_.empty()) {
    if (random_.one_in(6)) {
      start_batch();
      continue;
    }
    const bool sends = receives_.empty() || (!sends_.empty() && random_.one_in(2));
    auto& from = sends ? sends_ : receives_;
    const PlannedTransfer transfer = from.front();
    from.pop_front();
    start_one(sends ? make_send(transfer) : make_receive(transfer));
  }
  // Each waits for a message: not before everything else is started.
  for (const PlannedTransfer& transfer : probed_) receive_probed(transfer);
  for (Operation& operation : operations_) finish(operation);
  for (std::uint64_t round = 1; round < most_starts; ++round) {
    groups_.at(0).barrier();  // else a receive by nothing would take what a later round sends
    repeat(round);
  }
}

void RankExchange::repeat(std::uint64_t round) {
  std::vector<Operation*> repeated;
  for (Operation& operation : operations_) {
    if (starts_of(seed_, operation.first) <= round) continue;
    const PlannedTransfer transfer = operation.transfer = in_round(operation.first, round);
    if (operation.is_send) content_of(seed_, transfer).fill(operation.buffer.data(), transfer.bytes);
    if (!operation.is_send && operation.way == ReceiveWay::any_source)
      unclaimed_[{transfer.group, transfer.source}].push_back(transfer);
    repeated.push_back(&operation);
    start(operation);
  }
  std::vector<PlannedTransfer> probed;
  for (const PlannedTransfer& transfer : probed_)
    if (starts_of(seed_, transfer) > round) probed.push_back(in_round(transfer, round));
  for (const PlannedTransfer& transfer : probed)
    unclaimed_[{transfer.group, transfer.source}].push_back(transfer);
  for (const PlannedTransfer& transfer : probed) receive_probed(transfer);
  for (Operation* operation : repeated) finish(*operation);
}

RankExchange::Operation& RankExchange::make_send(const PlannedTransfer& transfer) {
  Operation& operation = operations_.emplace_back(Operation{.transfer = transfer, .is_send = true});
  operation.buffer.resize(transfer.bytes);
  content_of(seed_, transfer).fill(operation.buffer.data(), transfer.bytes);
  return operation;
}

RankExchange::Operation& RankExchange::make_receive(const PlannedTransfer& transfer) {
  const ReceiveWay way = receive_way(seed_, statement_, transfer.group, transfer.destination);
  Operation& operation = operations_.emplace_back(Operation{.transfer = transfer, .way = way});
  operation.buffer.resize((takes_what_comes(way) ? largest_[transfer.group] : transfer.bytes) +
                          random_.below(20));
  return operation;
}

P2POp RankExchange::op_of(Operation& operation) {
  const PlannedTransfer& transfer = operation.transfer;
  const Tensor tensor = Tensor::bytes(operation.buffer.data(), operation.buffer.size());
  P2POp op{.op = P2POp::isend, .tensor = tensor, .peer = transfer.destination, .tag = transfer.tag};
  op.group = groups_.at(transfer.group);
  if (operation.is_send) return op;
  op.op = P2POp::irecv;
  op.peer = operation.way == ReceiveWay::any_source ? any_source : transfer.source;
  if (operation.way != ReceiveWay::exact) op.tag = any_tag;
  return op;
}

void RankExchange::start_one(Operation& operation) {
  if (random_.one_in(4)) {
    P2POp op = op_of(operation);
    operation.is_persistent = true;
    operation.request = operation.is_send ? op.group.send_init(op.tensor, op.peer, {.tag = op.tag})
                                          : op.group.recv_init(op.tensor, op.peer, {.tag = op.tag});
  }
  start(operation);
}

void RankExchange::start(Operation& operation) {
  if (operation.is_persistent) return operation.request.start();
  P2POp op = op_of(operation);
  operation.work = operation.is_send
                       ? op.group.isend(op.tensor, op.peer, {.tag = op.tag, .synchronous = random_.one_in(5)})
                       : op.group.irecv(op.tensor, op.peer, {.tag = op.tag});
}

// Of the next sends and receives, whatever their groups.
void RankExchange::start_batch() {
  std::vector<Operation*> batch;
  const auto take = [&](std::deque<PlannedTransfer>& from, bool are_sends) {
    for (std::size_t left = random_.below(largest_batch); left > 0 && !from.empty(); --left) {
      batch.push_back(are_sends ? &make_send(from.front()) : &make_receive(from.front()));
      from.pop_front();
    }
  };
  take(sends_, true);
  take(receives_, false);
  if (batch.empty()) return;
  std::vector<P2POp> ops;
  for (Operation* operation : batch) ops.push_back(op_of(*operation));
  std::vector<Work> works = groups_.at(0).batch_isend_irecv(ops);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i]->work = std::move(works[i]);
}

void RankExchange::receive_probed(const PlannedTransfer& transfer) {
  Message message = groups_.at(transfer.group).probe(any_source, {.tag = any_tag});
  const PlannedTransfer expected = next_of(transfer.group, message.source());
  expect_equal(message.tag(), expected.tag, "tag of a probed message");
  std::vector<std::byte> buffer(message.bytes());
  message.recv(Tensor::bytes(buffer.data(), buffer.size()));
  check(expected, buffer, buffer.size());
}

void RankExchange::finish(Operation& operation) {
  const RecvStatus status = operation.is_persistent ? operation.request.wait() : operation.work.wait();
  if (operation.is_send) return;
  const bool by_nothing = operation.way == ReceiveWay::any_source;
  const PlannedTransfer expected =
      by_nothing ? next_of(operation.transfer.group, status.source) : operation.transfer;
  expect_equal(status.source, expected.source, "source");
  expect_equal(status.tag, expected.tag, "tag");
  check(expected, operation.buffer, status.bytes);
}

void RankExchange::check(const PlannedTransfer& expected, const std::vector<std::byte>& buffer,
                         std::size_t bytes) const {
  const std::string which =
      "message " + std::to_string(expected.index) + " of group " + std::to_string(expected.group);
  expect_equal(bytes, expected.bytes, "bytes of " + which);
  expect_equal(content_of(seed_, expected).first_wrong(buffer.data(), bytes), bytes,
               "first wrong byte of " + which);
}

PlannedTransfer RankExchange::next_of(int group, int source) {
  auto& queue = unclaimed_[{group, source}];
  expect(!queue.empty(),
         "a message too many from rank " + std::to_string(source) + " of group " + std::to_string(group));
  const PlannedTransfer next = queue.front();
  queue.pop_front();
  return next;
}

}  // namespace parley::testing
