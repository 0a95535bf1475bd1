#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/cuda/device.h"
#include "tests/unit/shm/child.h"
#include "transport/cuda_ipc/notes.h"

namespace parley::transport::cuda_ipc {

// A process of its own that has allocations on device 0, each full of one letter ("a", "b", ...), for others
// to open. Made before this process's device has been told anything: one with threads must not fork.
class Owner {
 public:
  static constexpr std::size_t bytes = 64;  // of each allocation

  explicit Owner(std::size_t count) : notes_(count) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const base::UniqueFd reads(ends[0]), writes(ends[1]);
    child_.emplace([&] { return live(count, writes.get()); });
    for (MemoryNote& note : notes_)
      EXPECT_EQ(::read(reads.get(), &note, sizeof(note)), static_cast<ssize_t>(sizeof(note)));
  }

  // What its mover would tell of an allocation, by this number.
  [[nodiscard]] MemoryNote note(std::size_t index, std::uint32_t number) const {
    MemoryNote made = notes_.at(index);
    made.number = number;
    return made;
  }

 private:
  // Until it is killed.
  static std::string live(std::size_t count, int told) {
    cuda::testing::EnteredDevice at;
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const memory = at.memory(bytes);
      std::memset(at.device.reach(memory, bytes), 'a' + static_cast<int>(i), bytes);
      MemoryNote note;
      note.bytes = bytes;
      const bool is_told = at.device.export_memory(memory, note.handle) == cuda::Code::ok &&
                           at.device.device_id(0, note.device) == cuda::Code::ok &&
                           ::write(told, &note, sizeof(note)) == static_cast<ssize_t>(sizeof(note));
      if (!is_told) return "the owner has failed";
    }
    ::pause();
    return {};
  }

  std::vector<MemoryNote> notes_;
  std::optional<shm::testing::Child> child_;
};

}  // namespace parley::transport::cuda_ipc
