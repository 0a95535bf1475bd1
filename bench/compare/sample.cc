#include "bench/compare/sample.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "bench/row.h"

namespace parley::bench::compare {
namespace {

std::optional<double> number(const nlohmann::json& row, const char* field) {
  const auto found = row.find(field);
  if (found == row.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::string> text(const nlohmann::json& row, const char* field) {
  const auto found = row.find(field);
  if (found == row.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// What limits the row, as a time.
std::optional<double> limit_us_of(const nlohmann::json& row, std::size_t bytes) {
  if (const auto us = number(row, "limit_us")) return us;
  const auto mb_per_s = number(row, "limit_mb_per_s");
  if (!mb_per_s) return std::nullopt;
  return static_cast<double>(bytes) / *mb_per_s;
}

constexpr std::string_view peer_prefix = "peer-";

std::string stem_of(const std::string& program) {
  return std::filesystem::path(program).stem().string();
}

// "openmpi" of ".../peer-openmpi".
std::string own_system_of(const Origin& origin) {
  if (!is_parley_bench(origin.program)) return stem_of(origin.program).substr(peer_prefix.size());
  return origin.where.arena ? "parley-arena" : "parley";
}

// What a program calls itself, and its ways ("gloo-default"), go by the contender's name.
std::string system_of(const std::string& written, const Origin& origin) {
  const std::string own = own_system_of(origin);
  const bool is_own = written == own || written.starts_with(own + "-");
  return is_own ? origin.contender + written.substr(own.size()) : written;
}

Sample sample_of(const nlohmann::json& row, const Origin& origin) {
  if (row.at("schema") != schema) throw std::runtime_error("its schema is not " + std::string(schema));
  if (row.at("op") != origin.where.op) throw std::runtime_error("it is of another operation");
  Sample sample;
  sample.where = origin.where;
  sample.round = origin.round;
  sample.memcpy_gb_per_s = origin.memcpy_gb_per_s;
  sample.bytes = row.at("bytes").get<std::size_t>();
  sample.system = system_of(row.at("system").get<std::string>(), origin);
  sample.us = row.at("median_us").get<double>();
  if (!(sample.us > 0)) throw std::runtime_error("its median_us is not positive");
  sample.p99_us = number(row, "p99_us");
  sample.p999_us = number(row, "p999_us");
  sample.probe_ns = number(row, "probe_ns").value_or(0);
  sample.limit_us = limit_us_of(row, sample.bytes);
  sample.core_share = number(row, "core_share");
  if (const auto wrong = row.find("wrong"); wrong != row.end() && !wrong->is_null())
    sample.wrong = wrong->get<std::size_t>();
  sample.void_reason = text(row, "void");
  sample.limit_void_reason = text(row, "limit_void");
  return sample;
}

}  // namespace

bool is_parley_bench(const std::string& program) {
  return !stem_of(program).starts_with(peer_prefix);
}

std::vector<Sample> read_rows(const std::string& text, const Origin& origin) {
  std::vector<Sample> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    try {
      Sample sample = sample_of(nlohmann::json::parse(line), origin);
      if (!std::string_view(sample.system).starts_with("raw")) samples.push_back(std::move(sample));
    } catch (const std::exception& error) {
      throw std::runtime_error("a row cannot be used (" + std::string(error.what()) + "): " + line);
    }
  }
  return samples;
}

}  // namespace parley::bench::compare
