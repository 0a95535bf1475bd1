#include "tools/sim/json.h"

#include <nlohmann/json.hpp>

namespace parley::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double ns_per_us = 1000;

const char* name_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::exact: return "exact";
    case Accuracy::evened: return "evened";
    case Accuracy::promised: return "promised";
  }
  return "";
}

Json tier_json(const Tier& tier) {
  Json pieces = Json::array();
  for (const Piece& piece : tier.pieces)
    pieces.push_back({{"from_bytes", piece.from_bytes},
                      {"latency_ns", piece.latency_ns},
                      {"byte_ns", piece.byte_ns},
                      {"core_byte_ns", piece.core_byte_ns}});
  return {{"message_ns", tier.message_ns}, {"pieces", pieces}};
}

Json model_json(const Model& model) {
  Json shared = Json::array();
  for (const SharedPiece& piece : model.shared)
    shared.push_back({{"from_bytes", piece.from_bytes},
                      {"mark_ns", piece.mark_ns},
                      {"byte_ns", piece.byte_ns},
                      {"fold_byte_ns", piece.fold_byte_ns}});
  return {{"near", tier_json(model.near)},
          {"far", tier_json(model.far)},
          {"uplink_ns", model.uplink_ns},
          {"fold_byte_ns", model.fold_byte_ns},
          {"shared", shared}};
}

Json figure_json(const Figure& figure) {
  return {{"us", figure.ns / ns_per_us}, {"accuracy", name_of(figure.accuracy)}, {"steps", figure.steps}};
}

Json entrant_json(const Entrant& entrant, std::uint64_t element_bytes) {
  Json json = {{"algorithm", schedule::name(entrant.candidate.algorithm)},
               {"segment_bytes", entrant.candidate.segment_count * element_bytes}};
  json.update(figure_json(entrant.figure));
  if (entrant.slowed) json["with_stragglers"] = figure_json(*entrant.slowed);
  return json;
}

Json contest_json(const Contest& contest) {
  Json entrants = Json::array();
  for (const Entrant& entrant : contest.entrants)
    entrants.push_back(entrant_json(entrant, contest.call.element_bytes));
  const Network& network = contest.network;
  Json json = {{"op", schedule::name(contest.call.operation)},
               {"ranks", network.ranks},
               {"hosts", network.hosts()},
               {"ranks_per_host", network.ranks_per_host},
               {"rails", network.rails},
               {"racks", network.racks()},
               {"bytes", contest.call.bytes},
               {"bound_us", contest.bound_ns / ns_per_us},
               {"library_takes", schedule::name(contest.taken().candidate.algorithm)},
               {"fastest", schedule::name(contest.fastest().candidate.algorithm)},
               {"algorithms", entrants}};
  if (contest.remainder)
    json["host_lost"] = {
        {"ranks", contest.remainder->ranks},
        {"hosts", contest.remainder->hosts},
        {"library_takes", entrant_json(contest.remainder->chosen, contest.call.element_bytes)}};
  return json;
}

Json calibration_json(const Calibration& calibration) {
  Json rows = Json::array();
  for (const auto& check : calibration.checks)
    rows.push_back({{"op", check.row.op},
                    {"transport", check.row.is_shared ? "shm" : "tcp"},
                    {"ranks", check.row.ranks},
                    {"bytes", check.row.bytes},
                    {"measured_us", check.row.ns / ns_per_us},
                    {"predicted_us", check.predicted_ns / ns_per_us},
                    {"error", check.error()}});
  return {
      {"median_error", calibration.median_error}, {"worst_error", calibration.worst_error}, {"rows", rows}};
}

}  // namespace

std::string json_of(const Study& study) {
  Json contests = Json::array();
  for (const Contest& contest : study.contests) contests.push_back(contest_json(contest));
  Json json = {
      {"schema", "parley-sim/1"}, {"command", study.options.command}, {"model", model_json(study.model)}};
  if (study.calibration) json["calibration"] = calibration_json(*study.calibration);
  json["contests"] = contests;
  return json.dump(1) + "\n";
}

}  // namespace parley::sim
