#include "transport/cuda_ipc/exports.h"

#include <algorithm>

namespace parley::transport::cuda_ipc {

using cuda::Code;

std::optional<std::uint32_t> Exports::number_of(const cuda::PointerFacts& facts, std::deque<Note>& notes) {
  auto found = entries_.find(facts.base);
  if (found != entries_.end() && found->second.buffer_id == facts.buffer_id) {
    found->second.used_at = ++uses_;
    return found->second.number;
  }
  if (found != entries_.end()) forget(found, notes);
  MemoryNote note;
  const bool is_shown = facts.can_be_exported &&
                        port_.api()->export_memory(facts.base, note.handle) == Code::ok &&
                        port_.api()->device_id(facts.device, note.device) == Code::ok;
  if (!is_shown) return std::nullopt;
  if (entries_.size() == most)
    forget(std::min_element(entries_.begin(), entries_.end(),
                            [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; }),
           notes);
  note.number = ++last_number_;
  note.bytes = facts.bytes;
  notes.emplace_back(note);
  entries_[facts.base] = {note.number, facts.buffer_id, ++uses_};
  return note.number;
}

void Exports::forget(std::map<std::byte*, Entry>::iterator entry, std::deque<Note>& notes) {
  ForgetNote note;
  note.number = entry->second.number;
  notes.emplace_back(note);
  entries_.erase(entry);
}

}  // namespace parley::transport::cuda_ipc
