#include "transport/cuda_ipc/exports.h"

#include <algorithm>

namespace parley::transport::cuda_ipc {

using cuda::Code;

std::optional<std::uint32_t> Exports::number_of(const cuda::PointerFacts& facts, std::deque<Note>& notes) {
  const auto found = entries_.find(facts.base);
  if (found != entries_.end() && found->second.buffer_id == facts.buffer_id) {
    found->second.used_at = ++uses_;
    return found->second.number;
  }
  forget_freed(notes);
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

// The driver has another number for what is at such an address now, or none. Who asks is about to tell
// something new, which the peer has to open: what it costs to ask is small beside that.
void Exports::forget_freed(std::deque<Note>& notes) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto looked_at = entry++;
    cuda::PointerFacts facts;
    (void)port_.api()->facts_of(looked_at->first, facts);
    if (facts.buffer_id != looked_at->second.buffer_id) forget(looked_at, notes);
  }
}

void Exports::forget(std::map<std::byte*, Entry>::iterator entry, std::deque<Note>& notes) {
  ForgetNote note;
  note.number = entry->second.number;
  notes.emplace_back(note);
  entries_.erase(entry);
}

}  // namespace parley::transport::cuda_ipc
