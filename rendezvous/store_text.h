#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace parley::rendezvous {

// The sentences of store errors, the same for every store.

// "300 ms", "20 s", "5 min": the largest unit that divides the duration; "no limit" for nanoseconds::max().
std::string duration_text(std::chrono::nanoseconds duration);

// A key for people: bytes outside printable ASCII as \xNN, cut after 64.
std::string key_text(std::string_view key);

// "card/2, card/3": at most eight, then "and 3 more".
std::string keys_text(std::span<const std::string_view> keys);

// "127.0.0.1:29500", "[::1]:29500".
std::string endpoint_text(std::string_view host, std::uint16_t port);

// "store wait timed out after 300 ms, missing keys: card/2, card/3 (2 of 4 present)".
std::string timed_out_text(std::string_view operation, std::chrono::nanoseconds timeout,
                           std::span<const std::string_view> missing, std::size_t total);

}  // namespace parley::rendezvous
