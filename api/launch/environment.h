#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace parley::launch {

using Environment = std::map<std::string, std::string>;

// Where the ranks of a job find each other.
struct Rendezvous {
  std::string host;
  std::uint16_t port = 0;
  std::string secret;
};

// What one rank finds in its environment, on top of what the launcher has: `extra`, and the variables that
// init() reads, which win. All ranks run on this host, so local and global numbers agree.
Environment rank_environment(int rank, int ranks, const Rendezvous& rendezvous, const Environment& extra);

// What is wrong with a further variable of this name, if anything: one that the launcher sets would be
// overruled in silence, and one that says how connections are proved and encrypted must count for the store
// as well, which the launcher serves.
std::optional<std::string> complaint_about(const std::string& name);

// The form in which the launcher hands variables to a forked rank through a pipe: NAME=value, each ended by a
// zero byte, and one more zero byte at the end.
std::string encode(const Environment& environment);
// Nothing when the text is incomplete: the launcher gave up before it had all to say.
std::optional<Environment> decode(std::string_view text);

// Sets the variables in this process. REQUIRES: one thread.
void apply(const Environment& environment);

}  // namespace parley::launch
