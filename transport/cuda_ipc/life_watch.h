#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "transport/base/unique_fd.h"

namespace parley::transport::cuda_ipc {

// Releases the semaphores of peers whose processes end, at once and whatever else this process is at, by a
// thread of its own that calls neither CUDA nor the engine. Nobody else may be able to: a program that frees
// memory waits in CUDA for all streams, every other thread's call then waits for that one, the engine's under
// its lock among them, and a stream may be waiting for a peer that has died (README.md).
// Thread-safety: any thread.
class LifeWatch {
 public:
  using Number = std::uint64_t;  // never 0

  LifeWatch() = default;
  ~LifeWatch();
  LifeWatch(const LifeWatch&) = delete;
  LifeWatch& operator=(const LifeWatch&) = delete;

  // `end_of_life`: readable when the peer's process has ended. `words`: of Semaphores, ours and the peer's.
  // Throws std::bad_alloc, std::system_error (no thread), base's errors (no descriptor).
  Number add(base::UniqueFd end_of_life, std::shared_ptr<std::byte> ours, std::shared_ptr<std::byte> peers);
  // Nothing of ours waits for the peer any more.
  void remove(Number number) noexcept;

 private:
  struct Peer {
    base::UniqueFd end_of_life;
    std::shared_ptr<std::byte> ours, peers;
    bool has_ended = false;
  };
  void main() noexcept;
  bool release_ended() noexcept;

  std::mutex mutex_;  // guards all below, but for the thread
  std::map<Number, Peer> peers_;
  Number last_ = 0;
  bool is_ending_ = false;
  base::UniqueFd changed_;  // readable: somebody was added, or it ends
  std::thread thread_;      // written before anything is watched
};

}  // namespace parley::transport::cuda_ipc
