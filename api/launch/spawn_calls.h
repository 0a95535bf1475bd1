#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace parley::launch {

// The calls of spawn() that this process has made, in their order: what tells an executed process which of
// them it is there for.
//
// Such a process comes to the same calls as its launcher did. The earlier ones end in it as they did there
// and start nothing; the next one is its own.
//
// Invariants:
// 1. running_ is true while a SpawnCall lives; there is one at most.
// 2. past_ and stage_ belong to who has set running_.
class SpawnCalls {
 public:
  enum class Stage : std::uint8_t {
    caller,      // calls of spawn() start processes
    on_the_way,  // this process was executed and has not come to its call yet
    rank,        // it is in the function of a call
  };

  static SpawnCalls& instance();

 private:
  friend class SpawnCall;
  SpawnCalls();

  std::atomic<bool> running_{false};
  Stage stage_;
  std::vector<int> past_;  // what they returned, or call_was_refused, call_has_failed
};

// One call, from its begin to its end. Thread-safety: one thread each.
class SpawnCall {
 public:
  // Throws UsageError while another thread is in a call.
  SpawnCall();
  ~SpawnCall();
  SpawnCall(const SpawnCall&) = delete;
  SpawnCall& operator=(const SpawnCall&) = delete;

  // Whether this process was executed for a later call: then repeat() is all there is to do.
  [[nodiscard]] bool is_earlier() const noexcept;
  // Whether it was executed for this one: then its function shall be run.
  [[nodiscard]] bool is_own() const noexcept;
  // Whether the call is made by a function that spawn() runs.
  [[nodiscard]] bool is_nested() const noexcept { return calls_.stage_ == SpawnCalls::Stage::rank; }

  // Ends as the call did in the launcher: returns what it returned, or throws UsageError or SystemError.
  int repeat();

  // How this process's calls before this one ended.
  [[nodiscard]] const std::vector<int>& earlier() const noexcept { return calls_.past_; }
  // Notes how it ended.
  void end(int result) { calls_.past_.push_back(result); }

  // From now on this process is a rank, whose function may call spawn() itself. It never leaves the call.
  void enter_rank() noexcept;

 private:
  SpawnCalls& calls_;
};

}  // namespace parley::launch
