#include "tools/sim/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

std::string tier_text(std::string_view name, const Tier& tier) {
  std::string text = fmt::format("# {}: {} busy at each end", name, format_ns(tier.message_ns));
  for (const Piece& piece : tier.pieces)
    text += fmt::format("; {}{} latency, {:.4g} ns/B{}",
                        tier.pieces.size() > 1 ? "from " + format_bytes(piece.from_bytes) + " " : "",
                        format_ns(piece.latency_ns), piece.byte_ns,
                        piece.core_byte_ns > 0 ? fmt::format(" ({:.4g} of a core)", piece.core_byte_ns) : "");
  return text + "\n";
}

std::string calibration_text(const Calibration& calibration) {
  std::string text =
      fmt::format("Calibration: {} rows, error of the model: median {:.1f} %, largest {:.1f} %\n",
                  calibration.checks.size(), 100 * calibration.median_error, 100 * calibration.worst_error);
  text += fmt::format("{:<9}{:<16}{:>5}{:>12}{:>13}{:>13}{:>9}\n", "Link", "Operation", "Ranks", "Size",
                      "measured", "predicted", "error");
  for (const auto& check : calibration.checks)
    text +=
        fmt::format("{:<9}{:<16}{:>5}{:>12}{:>13}{:>13}{:>+7.1f} %\n", check.row.is_shared ? "shm" : "tcp",
                    check.row.op, check.row.ranks, format_bytes(check.row.bytes), format_ns(check.row.ns),
                    format_ns(check.predicted_ns), 100 * check.error());
  for (const std::string& what : calibration.left_out) text += "# " + what + "\n";
  return text + "\n";
}

std::string header_of(const Study& study) {
  std::string text = fmt::format("{:<10}{:>10}  {:<28}{:>10}{:>9}  {:<28}{:>10}{:>9}", "Size", "bound",
                                 "library takes", "time", "x bound", "fastest", "time", "x bound");
  if (study.options.trouble.has_stragglers()) text += fmt::format("{:>12}{:>7}", "stragglers", "x");
  if (study.options.trouble.lost_host) text += fmt::format("{:>12}  {}", "host lost", "by");
  return text + "\n";
}

std::string line_of(const Contest& contest) {
  const auto entrant = [&](const Entrant& one) {
    return fmt::format("  {:<28}{:>10}{:>9.2f}", algorithm_text(one.candidate, contest.call.element_bytes),
                       figure_text(one.figure), one.figure.ns / contest.bound_ns);
  };
  const bool is_fastest = contest.chosen == 0;
  std::string text =
      fmt::format("{:<10}{:>10}", format_bytes(contest.call.bytes), format_ns(contest.bound_ns));
  text += entrant(contest.taken());
  text += is_fastest ? fmt::format("  {:<28}{:>19}", "the same", "") : entrant(contest.fastest());
  if (const auto& slowed = contest.taken().slowed)
    text += fmt::format("{:>12}{:>7.2f}", figure_text(*slowed), slowed->ns / contest.taken().figure.ns);
  if (contest.remainder)
    text += fmt::format("{:>12}  {}", figure_text(contest.remainder->chosen.figure),
                        algorithm_text(contest.remainder->chosen.candidate, contest.call.element_bytes));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string matrix_of(std::span<const Contest> contests) {
  std::vector<schedule::Algorithm> algorithms;
  for (const schedule::Algorithm algorithm : schedule::all_algorithms())
    for (const Contest& contest : contests)
      if (std::any_of(contest.entrants.begin(), contest.entrants.end(),
                      [&](const Entrant& one) { return one.candidate.algorithm == algorithm; })) {
        algorithms.push_back(algorithm);
        break;
      }
  const auto width = [](schedule::Algorithm algorithm) {
    return std::max<std::size_t>(schedule::name(algorithm).size() + 2, 11);
  };
  std::string text = fmt::format("\n{:<10}", "Size");
  for (const auto algorithm : algorithms)
    text += fmt::format("{:>{}}", schedule::name(algorithm), width(algorithm));
  text += "\n";
  for (const Contest& contest : contests) {
    text += fmt::format("{:<10}", format_bytes(contest.call.bytes));
    for (const auto algorithm : algorithms) {
      const auto found =
          std::find_if(contest.entrants.begin(), contest.entrants.end(),
                       [&](const Entrant& one) { return one.candidate.algorithm == algorithm; });
      text += fmt::format("{:>{}}", found == contest.entrants.end() ? "-" : figure_text(found->figure),
                          width(algorithm));
    }
    text += "\n";
  }
  return text;
}

std::string lost_text(const Contest& contest, std::uint32_t lost) {
  return fmt::format("# host {} lost: {} of {} ranks on {} of {} hosts remain\n", lost,
                     contest.remainder->ranks, contest.network.ranks, contest.remainder->hosts,
                     contest.network.hosts());
}

}  // namespace

std::string model_text(const Model& model) {
  std::string text = tier_text("within a host", model.near) + tier_text("between hosts", model.far);
  text += "# shared memory:";
  for (const SharedPiece& piece : model.shared)
    text += fmt::format("{}{} {} a mark, {:.4g} ns/B, folding {:.4g} ns/B",
                        &piece == &model.shared.front() ? "" : ";",
                        model.shared.size() > 1 ? " from " + format_bytes(piece.from_bytes) : "",
                        format_ns(piece.mark_ns), piece.byte_ns, piece.fold_byte_ns);
  return text + fmt::format("\n# folding {:.4g} ns/B\n", model.fold_byte_ns);
}

std::string tables_of(const Study& study) {
  std::string text = study.calibration ? calibration_text(*study.calibration) : "";
  text += model_text(study.model);
  const Trouble& trouble = study.options.trouble;
  if (trouble.has_stragglers()) text += "# stragglers: " + describe_stragglers(trouble) + "\n";
  const auto parts = by_ranks(study);
  for (const auto& contests : parts) {
    text += fmt::format("\n{}: {}\n", schedule::name(study.options.operation),
                        network_text(contests.front().network));
    if (trouble.lost_host) text += lost_text(contests.front(), *trouble.lost_host);
    text += header_of(study);
    for (const Contest& contest : contests) text += line_of(contest);
    if (study.options.shows_all) text += matrix_of(contests);
  }
  text += "\nThe fastest\n";
  for (const auto& contests : parts)
    text += fmt::format("{:>8} ranks: {}\n", contests.front().network.ranks, winners_text(contests));
  const std::string marks = marks_text(study);
  return text + (marks.empty() ? "" : "\n" + marks + "\n");
}

}  // namespace parley::sim
