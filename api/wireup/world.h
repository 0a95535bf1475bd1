#pragma once

#include <parley/store.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/schedule/overrides.h"
#include "api/wireup/device_work.h"
#include "api/wireup/group_books.h"
#include "api/wireup/ladder.h"
#include "api/wireup/last_word.h"
#include "api/wireup/left_memory.h"
#include "api/wireup/link_settings.h"
#include "api/wireup/roster.h"
#include "api/wireup/store_handle.h"
#include "transport/base/last_cache.h"
#include "transport/base/result.h"
#include "transport/cuda_ipc/ipc_mover.h"
#include "transport/cuda_ipc/port.h"
#include "transport/engine/engine.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/inproc/self_mover.h"

namespace parley::transport::shm {
class Arena;
}

namespace parley::wireup {

class CardDesk;
class Lookout;

// Contexts of the world's messages. What is sent in one never matches a receive in another.
inline constexpr std::uint32_t world_context = 1;
inline constexpr std::uint32_t contexts_per_group = 8;
// Group n, from 1, has the next eight, and so on; group 0 is the world. Three of them nobody uses.
struct GroupContexts {
  std::uint32_t messages = world_context;  // of tensors
  std::uint32_t object_lists = world_context + 1;
  std::uint32_t monitored_barriers = world_context + 2;
  std::uint32_t fused_batches = world_context + 3;  // beside what NCCL moves
  std::uint32_t collectives = world_context + 7;    // with notes, see noted_contexts

  static constexpr std::size_t used = 5;
  [[nodiscard]] std::array<std::uint32_t, used> all() const noexcept {
    return {messages, object_lists, monitored_barriers, fused_batches, collectives};
  }
};
// For MessengerOptions: the numbers of contexts of collectives are multiples of eight.
inline constexpr std::uint32_t noted_contexts = contexts_per_group - 1;
static_assert((GroupContexts().collectives & noted_contexts) == 0);
constexpr GroupContexts contexts_of_group(std::uint32_t number) noexcept {
  const std::uint32_t first = world_context + contexts_per_group * number;
  return {first, first + 1, first + 2, first + 3, first + 7};
}
constexpr bool is_monitored_barrier_context(std::uint32_t context) noexcept {
  return context % contexts_per_group == GroupContexts().monitored_barriers % contexts_per_group;
}
constexpr bool is_fused_batch_context(std::uint32_t context) noexcept {
  return context % contexts_per_group == GroupContexts().fused_batches % contexts_per_group;
}
constexpr bool is_collective_context(std::uint32_t context) noexcept {
  return (context & noted_contexts) == 0;
}
inline constexpr std::int64_t most_groups = (std::int64_t{1} << 29) - 2;

// Everything one rank has of its world: its engine, linked to the other ranks, and how to name them.
// Thread-safety: immutable but for the engine and the books of groups, which are safe.
struct World {
  World();
  // Leaves, if leave() was not called. In a forked child nothing is touched: it all belongs to the parent.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Delivers what was sent, says goodbye, closes the links and waits for the clients of the store it serves;
  // all within `linger`. Idempotent; safe to call from any thread.
  void leave(std::chrono::nanoseconds linger);

  // "rank 2 (node-b, pid 4711)"; without a number where the process is not known.
  [[nodiscard]] std::string name_of(int rank) const;

  // What carries messages to a rank, and why nothing better, if this side knows: "link to rank 2 (node-b, pid
  // 4711): tcp 10.0.0.1:4242 (no shm: it is on another host)", "on demand to ...", "no link to ...: it has
  // left". Where device memory has been sent or received, how that goes, too.
  [[nodiscard]] std::string describe_link(int other) const;

  // Where the groups of this world meet in the store, by the name of what they keep there.
  [[nodiscard]] std::string group_key(std::string_view name) const;

  // Memory that the other ranks of this host can map, aligned to 64 bytes; valid as long as it is held,
  // longer than the world too. Fails in words: there is none. Throws std::bad_alloc.
  [[nodiscard]] base::Result<std::shared_ptr<void>> allocate_shared(std::size_t bytes) const;

  // Has leaving wait for it, too, as long as it is there. Throws std::bad_alloc. REQUIRES: not the engine's
  // lock.
  void await(const std::shared_ptr<DeviceWork>& work);
  // Until devices have done what messages and others have told them, or the deadline has passed.
  void wait_for_devices(base::Deadline deadline);

  int rank = 0;
  int size = 1;
  int local_rank = 0;                          // among the ranks of this host
  std::chrono::nanoseconds timeout{};          // of operations that have none of their own
  std::chrono::nanoseconds meeting_timeout{};  // of making groups
  base::LastCache last_cache;                  // as PARLEY_CACHE_BYTES says, else of a core that is ours
  std::shared_ptr<Roster> roster;
  bool has_claim = false;  // to its rank in the store
  bool complete = false;   // has met all ranks
  bool on_demand = false;  // linked to those only that were needed
  DeviceWish device_wish = DeviceWish::automatic;
  schedule::Overrides overrides;  // as the environment says; the table is the same on all ranks
  LastWords last_words;           // where they stand in the store
  std::string cards_prefix;       // of the cards' keys there
  std::string groups_prefix;      // of keys in the store, see group_key()
  mutable GroupBooks group_books;
  std::atomic<bool> destroyed{false};  // destroy() was called: every call is a UsageError
  std::string described;               // how this rank found the others, for people

  StoreHandle store;  // empty in a world of one that was not given any, and in one that was left
  mutable std::atomic<bool> store_is_silent{false};  // gave no answer in time, see last_word.h
  std::unique_ptr<TcpStoreServer> store_server;
  std::shared_ptr<transport::shm::Arena> arena;  // null without a shared-memory transport
  // These outlive the engine.
  transport::cuda_ipc::Port devices;
  std::vector<std::unique_ptr<transport::cuda_ipc::IpcMover>> device_movers;  // of all links so far
  std::vector<std::weak_ptr<DeviceWork>> device_work;    // besides; under the engine's lock
  std::vector<std::unique_ptr<LeftMemory>> left_memory;  // under the engine's lock
  Ladder ladder;
  // Of the link to oneself, and of a world of threads.
  std::unique_ptr<transport::InprocHub> self_hub;
  std::shared_ptr<transport::InprocHub> local_hub;
  transport::SelfMover self_mover;
  // Null but where ranks link on demand.
  std::unique_ptr<CardDesk> card_desk;
  std::unique_ptr<Lookout> lookout;
  std::unique_ptr<transport::Engine> engine;
};

// How often those who wait in init() are told whom for.
inline constexpr auto reminder_period = std::chrono::seconds(10);

// How long leaving may take.
inline constexpr auto default_linger = std::chrono::seconds(5);

}  // namespace parley::wireup
