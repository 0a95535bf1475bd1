#include "tests/multiprocess/programs/program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/multiprocess/support/random.h"

namespace parley::testing {
namespace {

constexpr std::size_t most_groups = 6;  // alive together, beside the world

// Writes a program statement by statement, and knows which groups there are.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {
    program_.seed = seed;
    program_.ranks = 2 + static_cast<int>(random_.below(11));
    PlannedGroup world;
    world.members.resize(static_cast<std::size_t>(program_.ranks));
    std::iota(world.members.begin(), world.members.end(), 0);
    groups_.push_back(std::move(world));
  }

  Program write() {
    for (std::size_t left = 6 + random_.below(10); left > 0; --left) write_statement();
    return std::move(program_);
  }

 private:
  void write_statement() {
    const std::size_t kind = random_.below(10);
    if (kind < 3)
      make_groups();
    else if (kind == 3 && groups_.size() > 1)
      drop_group();
    else if (kind < 7)
      program_.statements.emplace_back(Exchange{transfers(1 + random_.below(120), 200'000)});
    else if (kind < 9)
      exchange_objects();
    else
      collective();
  }

  const PlannedGroup& any_group() { return groups_[random_.below(groups_.size())]; }

  void make_groups() {
    if (groups_.size() > most_groups) return drop_group();
    const PlannedGroup parent = any_group();
    MakeGroups statement;
    statement.parent = parent.id;
    switch (random_.below(3)) {
      case 0: {
        statement.way = MakeGroups::Way::new_group;
        std::vector<int> members = shuffled(parent.members);
        members.resize(1 + random_.below(members.size()));
        statement.made.push_back({next_id_++, std::move(members)});
        break;
      }
      case 1: {
        statement.way = MakeGroups::Way::split;
        const std::size_t colors = 1 + random_.below(3);
        std::vector<PlannedGroup> made(colors);
        for (const int process : shuffled(parent.members))
          made[random_.below(colors)].members.push_back(process);
        for (PlannedGroup& group : made) {
          if (group.members.empty()) continue;
          group.id = next_id_++;
          statement.made.push_back(std::move(group));
        }
        break;
      }
      default: statement.way = MakeGroups::Way::dup; statement.made.push_back({next_id_++, parent.members});
    }
    groups_.insert(groups_.end(), statement.made.begin(), statement.made.end());
    program_.statements.emplace_back(std::move(statement));
  }

  void drop_group() {
    const std::size_t at = 1 + random_.below(groups_.size() - 1);
    program_.statements.emplace_back(DropGroup{groups_[at].id});
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::vector<PlannedTransfer> transfers(std::size_t count, std::size_t largest) {
    std::vector<PlannedTransfer> made(count);
    for (PlannedTransfer& transfer : made) {
      const PlannedGroup& group = any_group();
      const std::size_t size = group.members.size();
      transfer.group = group.id;
      transfer.source = static_cast<int>(random_.below(size));
      transfer.destination = static_cast<int>(random_.below(size));
      transfer.tag = static_cast<std::int64_t>(random_.below(3));
      transfer.bytes = random_.one_in(15) ? random_.below(largest) : random_.below(100);
      transfer.index = next_index_++;
    }
    return made;
  }

  void exchange_objects() {
    ExchangeObjects statement{transfers(1 + random_.below(20), 5'000), random_.one_in(2)};
    if (statement.from_any) {
      const PlannedGroup& group = any_group();
      const auto destination = static_cast<int>(random_.below(group.members.size()));
      for (PlannedTransfer& transfer : statement.transfers) {
        transfer.group = group.id;
        transfer.source = static_cast<int>(random_.below(group.members.size()));
        transfer.destination = destination;
      }
    }
    // A blocking send to oneself ends by good luck only.
    std::erase_if(statement.transfers,
                  [](const auto& transfer) { return transfer.source == transfer.destination; });
    program_.statements.emplace_back(std::move(statement));
  }

  void collective() {
    const PlannedGroup& group = any_group();
    program_.statements.emplace_back(
        ObjectCollective{.kind = static_cast<ObjectCollective::Kind>(random_.below(4)),
                         .group = group.id,
                         .root = static_cast<int>(random_.below(group.members.size())),
                         .index = next_index_++});
  }

  std::vector<int> shuffled(std::vector<int> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_.below(i)]);
    return values;
  }

  Random random_;
  Program program_;
  std::vector<PlannedGroup> groups_;
  int next_id_ = 1;
  std::uint64_t next_index_ = 0;
};

}  // namespace

int PlannedGroup::rank_of(int process) const noexcept {
  const auto found = std::find(members.begin(), members.end(), process);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

Program make_program(std::uint64_t seed) {
  return Author(seed).write();
}

ReceiveWay receive_way(std::uint64_t seed, std::size_t statement, int group, int destination) {
  Random random(seed);
  for (const std::uint64_t part :
       {statement, static_cast<std::size_t>(group), static_cast<std::size_t>(destination)})
    random = Random(random.next() ^ part);
  return static_cast<ReceiveWay>(random.below(4));
}

}  // namespace parley::testing
