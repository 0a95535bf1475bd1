#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parley::rendezvous {

// A rank and a world size as they were given: integers of 64 bits, so that what is out of range is seen and
// not cut to something that is not. -1: not given.
struct Numbers {
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
};

// Where a store is: tcp://host:port (an IPv6 address in brackets) or file:///path.
struct StoreUrl {
  std::string host = {};
  std::uint16_t port = 0;
  std::string path = {};  // then there is no host
  Numbers numbers = {};   // of "?rank=R&world_size=N"
};

// Whether the text begins like one.
bool is_store_url(std::string_view text);

// Throws UsageError that begins with `source` and says what is wrong.
StoreUrl parse_store_url(std::string_view url, std::string_view source);

// "[::1]" is the address ::1; all else stays as it is.
std::string_view without_brackets(std::string_view host);

// `source` says where the text is from: a variable, or a URL. Throws UsageError.
std::uint16_t parse_port(std::string_view text, std::string_view source);

}  // namespace parley::rendezvous
