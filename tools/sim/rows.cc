#include "tools/sim/rows.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "api/schedule/operation.h"
#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

using Json = nlohmann::json;

constexpr double least_core_share = 0.95;

bool is_between_two(std::string_view op) {
  return op == "latency" || op == "bandwidth" || op == "message-rate";
}

// Why the row is left out; nothing: it is not.
std::string reason_against(const Json& row) {
  if (row.at("system") != "parley") return "other systems";
  const std::string op = row.at("op");
  if (!is_between_two(op) && !schedule::find_operation(op)) return op;
  if (row.contains("void") && !row.at("void").is_null()) return "void";
  if (row.value("device", "cpu") != "cpu") return "on devices";
  const Json share = row.contains("core_share") ? row.at("core_share") : Json();
  if (share.is_number() && share.get<double>() < least_core_share) return "with a core taken by others";
  if (share.is_null() && row.at("ranks").get<int>() > 2) return "with more ranks than cores";
  return {};
}

}  // namespace

Rows read_rows(std::istream& stream, std::string_view file) {
  Rows read;
  std::map<std::string, int> left_out;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.empty()) continue;
    try {
      const Json row = Json::parse(line);
      if (row.at("schema") != "parley-bench/1") throw UsageError("schema");
      const std::string reason = reason_against(row);
      if (!reason.empty()) {
        ++left_out[reason];
        continue;
      }
      constexpr double ns_per_us = 1000;
      read.rows.push_back({row.at("op"), row.at("transport") == "shm", row.at("ranks").get<std::uint32_t>(),
                           row.at("bytes").get<std::uint64_t>(),
                           row.at("median_us").get<double>() * ns_per_us});
    } catch (const std::exception&) {
      throw UsageError(
          fmt::format("--calibrate {}:{}: is no row of parley-bench --json (parley-bench/1)", file, number));
    }
  }
  for (const auto& [reason, count] : left_out)
    read.left_out.push_back(fmt::format("{} row{} left out: {}", count, count == 1 ? "" : "s", reason));
  if (read.rows.empty())
    throw UsageError(fmt::format("--calibrate {}: has no row of Parley that can be predicted", file));
  return read;
}

}  // namespace parley::sim
