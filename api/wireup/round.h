#pragma once

#include <parley/store.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/base/deadline.h"

namespace parley::wireup {

// The name of a key that belongs to one round of a job.
std::string round_key(std::int64_t round, std::string_view name);

// Makes a key's text `desired` if it is `expected`, and returns what it is then. An absent key is empty.
std::string exchange_text(Store& store, const std::string& key, std::string_view expected,
                          std::string_view desired, base::Deadline deadline);
// The key's text now; it does not wait for the key.
std::string read_text(Store& store, const std::string& key, base::Deadline deadline);

// A process that is refused leaves a note in the store, so that those who wait for somebody hear of it. Notes
// are few and short; one that cannot be left is lost.
void note_refusal(Store& store, std::int64_t round, std::string_view note) noexcept;
// The latest notes of the round, "; " between them; empty when there are none.
std::string read_refusals(Store& store, std::int64_t round, base::Deadline deadline);

}  // namespace parley::wireup
