#pragma once

#include <parley/object_options.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace parley::detail {

// Why so large a list may not be sent, for people; empty: it may.
std::string size_fault(std::span<const std::string> texts, const ObjectOptions& options);

// The texts of a list that `source` has sent, and whose size was looked at. Throws ObjectError: it is no
// list, or a text in it nests too deep.
std::vector<std::string> checked_texts(const ProcessGroup& group, int source, std::span<const std::byte> list,
                                       const ObjectOptions& options);

}  // namespace parley::detail
