#include "tests/multiprocess/programs/rank_run.h"

#include <parley/objects.h>

#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/multiprocess/programs/exchange.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using Objects = std::vector<Object>;

Objects list_of(const PlannedTransfer& transfer) {
  Objects list{transfer.index, std::string(transfer.bytes, 'x')};
  for (std::uint64_t i = 0; i < transfer.index % 3; ++i)
    list.push_back({{"i", i}, {"list", {1, nullptr, true}}});
  return list;
}

Object object_of(const ObjectCollective& statement, int rank) {
  return {statement.index, rank, std::string(static_cast<std::size_t>(rank), 'y')};
}

Objects objects_of_all(const ObjectCollective& statement, int size) {
  Objects all;
  for (int rank = 0; rank < size; ++rank) all.push_back(object_of(statement, rank));
  return all;
}

}  // namespace

RankRun::RankRun(const Program& program, ProcessGroup world) : program_(program), process_(world.rank()) {
  PlannedGroup all;
  all.members.resize(static_cast<std::size_t>(program.ranks));
  std::iota(all.members.begin(), all.members.end(), 0);
  groups_.emplace(0, std::move(all));
  handles_.emplace(0, std::move(world));
}

void RankRun::run() {
  for (; statement_ < program_.statements.size(); ++statement_) try {
      std::visit([&](const auto& statement) { run(statement); }, program_.statements[statement_]);
    } catch (const std::exception& error) {
      throw Unexpected("statement " + std::to_string(statement_) + ": " + error.what());
    }
  handles_.at(0).barrier();
  expect_nothing_left();
}

void RankRun::run(const MakeGroups& statement) {
  for (const PlannedGroup& group : statement.made) groups_.emplace(group.id, group);
  if (!is_in(statement.parent)) return;
  ProcessGroup& parent = handles_.at(statement.parent);
  const PlannedGroup& parents = groups_.at(statement.parent);
  const PlannedGroup* mine = nullptr;
  int color = -1;
  for (std::size_t i = 0; i < statement.made.size(); ++i)
    if (statement.made[i].rank_of(process_) >= 0) {
      mine = &statement.made[i];
      color = static_cast<int>(i);
    }
  ProcessGroup made;
  switch (statement.way) {
    case MakeGroups::Way::new_group: {
      std::vector<int> ranks;
      for (const int process : statement.made.front().members) ranks.push_back(parents.rank_of(process));
      made = parent.new_group(ranks);
      break;
    }
    case MakeGroups::Way::split: made = parent.split(color, mine->rank_of(process_)); break;
    case MakeGroups::Way::dup: made = parent.dup(); break;
  }
  expect(made.is_member() == (mine != nullptr), "who is a member");
  if (mine == nullptr) return;
  expect_group(made, *mine);
  handles_.emplace(mine->id, std::move(made));
}

void RankRun::run(const DropGroup& statement) {
  if (is_in(statement.id)) handles_.at(statement.id).barrier();  // what was sent in it has been received
  handles_.erase(statement.id);
  groups_.erase(statement.id);
}

void RankRun::run(const Exchange& statement) {
  RankExchange exchange(handles_, program_.seed, statement_, process_);
  for (const PlannedTransfer& transfer : statement.transfers) {
    if (!is_in(transfer.group)) continue;
    const int rank = groups_.at(transfer.group).rank_of(process_);
    if (rank == transfer.source) exchange.add_send(transfer);
    if (rank == transfer.destination) exchange.add_receive(transfer);
  }
  exchange.run();
  handles_.at(0).barrier();  // else a receive by nothing would take what a later statement sends
  expect_nothing_left();
  handles_.at(0).barrier();
}

void RankRun::run(const ExchangeObjects& statement) {
  std::map<int, std::vector<PlannedTransfer>> unclaimed;  // by source; of one group
  for (const PlannedTransfer& transfer : statement.transfers) unclaimed[transfer.source].push_back(transfer);
  for (const PlannedTransfer& transfer : statement.transfers) {
    if (!is_in(transfer.group)) continue;
    ProcessGroup& group = handles_.at(transfer.group);
    if (group.rank() == transfer.source)
      send_object_list(group, list_of(transfer), transfer.destination, {.tag = transfer.tag});
    if (group.rank() != transfer.destination) continue;
    Objects list;
    PlannedTransfer expected = transfer;
    if (statement.from_any) {
      const int source = recv_object_list(group, list, any_source, {.tag = any_tag});
      auto& left = unclaimed[source];
      expect(!left.empty(), "a list too many from rank " + std::to_string(source));
      expected = left.front();
      left.erase(left.begin());
    } else {
      recv_object_list(group, list, transfer.source, {.tag = transfer.tag});
    }
    expect(list == list_of(expected), "list " + std::to_string(expected.index) + ": " + Object(list).dump());
  }
  handles_.at(0).barrier();
}

void RankRun::run(const ObjectCollective& statement) {
  if (!is_in(statement.group)) return;
  ProcessGroup& group = handles_.at(statement.group);
  const bool is_root = group.rank() == statement.root;
  const Object mine = object_of(statement, group.rank());
  const Objects all = objects_of_all(statement, group.size());
  switch (statement.kind) {
    case ObjectCollective::Kind::broadcast: {
      Objects list = is_root ? all : Objects{};
      broadcast_object_list(group, list, statement.root);
      return expect(list == all, "a broadcast");
    }
    case ObjectCollective::Kind::gather:
      return expect(gather_object(group, mine, statement.root) == (is_root ? all : Objects{}), "a gather");
    case ObjectCollective::Kind::all_gather:
      return expect(all_gather_object(group, mine) == all, "an all_gather");
    case ObjectCollective::Kind::scatter:
      return expect(scatter_object_list(group, is_root ? all : Objects{}, statement.root) == mine,
                    "a scatter");
  }
}

void RankRun::expect_group(const ProcessGroup& handle, const PlannedGroup& group) const {
  expect_equal(handle.size(), static_cast<int>(group.members.size()), "size of a group");
  expect_equal(handle.rank(), group.rank_of(process_), "rank in a group");
  for (int rank = 0; rank < handle.size(); ++rank)
    expect_equal(handle.global_rank(rank), group.members[static_cast<std::size_t>(rank)], "a member");
}

void RankRun::expect_nothing_left() {
  for (auto& [id, group] : handles_)
    expect(!group.iprobe(any_source, {.tag = any_tag}), "a message too many in group " + std::to_string(id));
}

}  // namespace parley::testing
