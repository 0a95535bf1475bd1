#pragma once

#include <parley/export.h>
#include <parley/process_group.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace parley {

// Of the functions in <parley/objects.h>.
struct ObjectOptions {
  std::int64_t tag = 0;  // point-to-point: 0 to 2^63 - 1; a receive's may be any_tag
  // Point-to-point: of the whole call, until the list is sent, or all of it has arrived. Group operations: of
  // each of their collectives. Not given: each wait lasts as long as the world's operations.
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
  std::size_t max_bytes = std::size_t{16} << 20;  // of a list as it travels: its JSON texts, and 8 for each
  int max_depth = 64;                             // of arrays and objects in one another
};

// What those functions are made of: lists of texts. The library need not know the format.
namespace detail {

struct TextList {
  std::vector<std::string> texts;
  int source = -1;
};

// What a rank gives to a group operation; with a `fault`, for people, it can give nothing: the operation
// begins all the same, ends on all ranks alike, and throws it as UsageError here.
struct OwnTexts {
  std::vector<std::string> texts = {};
  std::string fault = {};
};

PARLEY_API void send_texts(ProcessGroup& group, std::span<const std::string> texts, int destination,
                           const ObjectOptions& options);
PARLEY_API TextList receive_texts(ProcessGroup& group, int source, const ObjectOptions& options);
// `mine`: at the source what is told; elsewhere ignored. Returns it everywhere.
PARLEY_API std::vector<std::string> broadcast_texts(ProcessGroup& group, const OwnTexts& mine, int source,
                                                    const ObjectOptions& options);
// `mine`: one text. By rank; at ranks other than `destination` nothing.
PARLEY_API std::vector<std::string> gather_texts(ProcessGroup& group, const OwnTexts& mine, int destination,
                                                 const ObjectOptions& options);
PARLEY_API std::vector<std::string> all_gather_texts(ProcessGroup& group, const OwnTexts& mine,
                                                     const ObjectOptions& options);
// `mine`: at the source one text for each rank; elsewhere ignored.
PARLEY_API std::string scatter_texts(ProcessGroup& group, const OwnTexts& mine, int source,
                                     const ObjectOptions& options);

// Throws ObjectError: what `source` has sent cannot be taken.
[[noreturn]] PARLEY_API void refuse_object(const ProcessGroup& group, int source, const std::string& why);

}  // namespace detail
}  // namespace parley
