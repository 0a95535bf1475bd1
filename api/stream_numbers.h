#pragma once

namespace parley::detail {

// Streams by small numbers, so that a Work is not larger for them. A stream has one number in this process,
// the default stream 0; those of streams that are gone are used again for others of the same name. -1: no
// memory for one more. Thread-safety: any thread.
[[nodiscard]] int number_of_stream(void* stream) noexcept;
// -1: the caller's current stream.
[[nodiscard]] void* stream_of_number(int number) noexcept;

}  // namespace parley::detail
