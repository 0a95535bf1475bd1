#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parley::transport {

struct Unexpected;

// The unmatched offers of one peer, by its number. Nodes are used again, so that a table that has been as
// full as it gets allocates nothing. Thread-safety: none.
class OfferTable {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return offers_.size(); }
  // Null: there is none of that number.
  [[nodiscard]] Unexpected* find(std::uint32_t number) const noexcept {
    const auto found = offers_.find(number);
    return found == offers_.end() ? nullptr : found->second;
  }
  // Null: the table is empty.
  [[nodiscard]] Unexpected* any() const noexcept {
    return offers_.empty() ? nullptr : offers_.begin()->second;
  }
  // False: the number is taken. Throws std::bad_alloc.
  bool add(std::uint32_t number, Unexpected& offer) {
    spare_.reserve(most_spare);  // once; remove() shall not allocate
    if (spare_.empty()) return offers_.try_emplace(number, &offer).second;
    spare_.back().key() = number;
    spare_.back().mapped() = &offer;
    auto added = offers_.insert(std::move(spare_.back()));
    spare_.back() = std::move(added.node);
    if (added.inserted) spare_.pop_back();
    return added.inserted;
  }
  // Does nothing unless `offer` is there under that number.
  void remove(std::uint32_t number, const Unexpected& offer) noexcept {
    const auto found = offers_.find(number);
    if (found == offers_.end() || found->second != &offer) return;
    auto node = offers_.extract(found);
    if (spare_.size() < most_spare) spare_.push_back(std::move(node));
  }

 private:
  // More than a window of messages usually has; beyond, nodes go back to the heap.
  static constexpr std::size_t most_spare = 256;

  std::unordered_map<std::uint32_t, Unexpected*> offers_;
  std::vector<decltype(offers_)::node_type> spare_;
};

}  // namespace parley::transport
