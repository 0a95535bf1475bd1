#include "tools/info/report.h"

#include <parley/error.h>

#include <algorithm>

#include "api/wireup/link_settings.h"
#include "transport/base/env.h"

namespace parley::info {
namespace {

// Of everything that has one, and of variables that init() cannot read.
Json problems_of(const Json& report) {
  Json problems = Json::array();
  for (const Json& part : report)
    if (part.is_object() && part.contains("problem")) problems.push_back(part["problem"]);
  const auto try_to = [&](const auto& read) {
    try {
      (void)read();
    } catch (const UsageError& error) {
      problems.push_back(error.what());
    }
  };
  for (const char* name : {"PARLEY_TIMEOUT", "PARLEY_INIT_TIMEOUT"})
    try_to([&] { return base::env_duration(name); });
  try_to(wireup::full_mesh_limit);
  try_to(wireup::chosen_transports);
  return problems;
}

std::string words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

// Names are for programs, "key_id"; people read "key id".
std::string title(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// "name value, note" of one entry of a list; what is no is not said.
std::string line_of(const Json& entry) {
  if (!entry.is_object()) return words(entry);
  std::string line;
  for (const auto& [name, value] : entry.items()) {
    if (value.is_boolean()) {
      if (value.get<bool>()) line += ", " + title(name);
      continue;
    }
    line += (line.empty() ? "" : line.find(' ') == std::string::npos ? " " : ", ") + words(value);
  }
  return line;
}

}  // namespace

Json make_report(const Question& question) {
  Json report;
  report["build"] = describe_build();
  report["host"] = describe_host();
  report["shared_memory"] = describe_shared_memory();
  report["cuda"] = describe_cuda();
  report["interfaces"] = describe_interfaces();
  const Json place = describe_place(question);
  report["place"] = place;
  report["advertised_address"] = describe_address(place);
  report["secret"] = describe_secret(place);
  report["links"] = describe_links(place);
  report["variables"] = describe_variables();
  report["problems"] = problems_of(report);
  return report;
}

std::string as_text(const Json& report) {
  std::string text;
  for (const auto& [heading, part] : report.items()) {
    text += (text.empty() ? "" : "\n") + title(heading) + "\n";
    if (part.empty()) text += "  none\n";
    for (const auto& [name, value] : part.items())
      text += "  " + (part.is_array() ? line_of(value) : title(name) + ": " + words(value)) + "\n";
  }
  return text;
}

}  // namespace parley::info
