#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace parley::info {

// What is asked: as for init().
struct Question {
  std::string method = "env://";
  int rank = -1;
  int world_size = -1;
};

using Json = nlohmann::ordered_json;

// What this process would do if it called init() now, and why. Makes no connection and no file that stays.
// "problems" is the list of reasons, in words, for which init() would fail; secrets are told by their key id
// only.
Json make_report(const Question& question);

// The same for people.
std::string as_text(const Json& report);

// Parts of it. A part that something is wrong with has a "problem" instead.
Json describe_build();
Json describe_host();
// Each way to shared memory, whether it works, and whether processes may read each other's memory; tried.
Json describe_shared_memory();
Json describe_cuda();
Json describe_interfaces();
Json describe_place(const Question& question);
Json describe_secret(const Json& place);
Json describe_address(const Json& place);
Json describe_links(const Json& place);
Json describe_variables();

}  // namespace parley::info
