#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace parley::wireup {

// What a rank remembers of its groups, beside the groups themselves. Thread-safety: safe.
class GroupBooks {
 public:
  // How many calls of this description came before, for a number of its own. Members that call alike number
  // alike. Remembered to the end: a few bytes for each different description.
  std::uint64_t next_call(std::uint64_t description) {
    const std::lock_guard lock(mutex_);
    return calls_[description]++;
  }

  // What errors call the groups that there are.
  void name(std::uint32_t context, std::string name) {
    const std::lock_guard lock(mutex_);
    names_[context] = std::move(name);
  }
  void forget(std::uint32_t context) {
    const std::lock_guard lock(mutex_);
    names_.erase(context);
  }
  // Empty: none has this context.
  [[nodiscard]] std::string name_of(std::uint32_t context) const {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(context);
    return found == names_.end() ? std::string() : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> calls_;
  std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace parley::wireup
