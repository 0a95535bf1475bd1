#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "api/collective/commons.h"

namespace parley::testing {

// The boards of all ranks of a group in the memory of one process, and a Commons for each rank, as each would
// have it of its own. Process and rank have the same number.
class BoardsInMemory {
 public:
  BoardsInMemory(std::uint32_t ranks, const collective::Commons::Sets& sets) {
    collective::Team team;
    team.processes.resize(ranks);
    std::iota(team.processes.begin(), team.processes.end(), 0U);
    std::vector<std::shared_ptr<std::byte>> boards;
    std::vector<std::shared_ptr<std::atomic<std::uint32_t>>> sleep_words;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      boards.push_back(make_board(sets));
      sleep_words.push_back(std::make_shared<std::atomic<std::uint32_t>>(0));
    }
    for (team.rank = 0; team.rank < ranks; ++team.rank) {
      team.neighbours = team.processes;
      std::erase(team.neighbours, team.rank);
      std::vector<collective::Commons::Other> others;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) others.push_back({boards[rank], sleep_words[rank]});
      commons_.push_back(
          std::make_unique<collective::Commons>(team, sets, boards[team.rank], std::move(others)));
      memory_.push_back(boards[team.rank].get());
    }
    sleep_words_.assign(sleep_words.begin(), sleep_words.end());
  }

  // As rank `rank` has it. Thread-safety: as that of Commons, of which each rank's is another one.
  [[nodiscard]] collective::Commons& of(std::uint32_t rank) const noexcept { return *commons_[rank]; }
  // That rank's board.
  [[nodiscard]] std::byte* memory(std::uint32_t rank) const noexcept { return memory_[rank]; }
  // Until then all are awake.
  void fall_asleep(std::uint32_t rank) const noexcept { *sleep_words_[rank].lock() = 1; }

 private:
  static std::shared_ptr<std::byte> make_board(const collective::Commons::Sets& sets) {
    const std::size_t bytes = collective::Commons::board_bytes(sets);
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, alignment));
    collective::Commons::prepare(memory);
    return {memory, [](std::byte* board) { ::operator delete(board, alignment); }};
  }

  static constexpr std::align_val_t alignment{64};  // a slot is a cache line

  std::vector<std::unique_ptr<collective::Commons>> commons_;
  std::vector<std::byte*> memory_;
  std::vector<std::weak_ptr<std::atomic<std::uint32_t>>> sleep_words_;  // the others' Commons keep them
};

}  // namespace parley::testing
