#include "api/launch/report.h"

#include <array>
#include <cstdio>
#include <map>

namespace parley::launch {
namespace {

std::string seconds(std::chrono::nanoseconds duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", std::chrono::duration<double>(duration).count());
  return text.data();
}

std::string indent(const std::string& lines) {
  std::string out = "  | ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  | ";
  }
  return out + '\n';
}

// "rank 3", "ranks 0, 1 and 3"
std::string name_ranks(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_ranks(ranks);
}

std::string describe_end(const RankEnd& end, const std::string& launcher) {
  if (end.launcher_signal == 0) return end.status.describe();
  ExitStatus status = end.status;
  status.never_came = false;  // for it was ended
  const std::string text = status.describe();
  if (end.launcher_signal == end.status.signal_number) return text + ", sent by " + launcher;
  // For example a rank that caught SIGTERM and left with a code of its own.
  return text + " after " + launcher + " had sent " + signal_name(end.launcher_signal);
}

// The ends of all ranks but one, those with the same end together, in the order of their first rank.
std::string describe_others(const JobEnd& end, const std::string& launcher) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<int>> groups;
  for (int rank = 0; rank < static_cast<int>(end.ranks.size()); ++rank) {
    if (rank == end.culprit) continue;
    std::string text = describe_end(end.ranks[static_cast<std::size_t>(rank)], launcher);
    std::vector<int>& group = groups[text];
    if (group.empty()) order.push_back(std::move(text));
    group.push_back(end.first_rank + rank);
  }
  std::string out;
  for (const std::string& text : order)
    out += (out.empty() ? "" : "; ") + name_ranks(groups[text]) + ' ' + text;
  return out;
}

}  // namespace

std::string first_sentence(const JobEnd& end, const ReportContext& context) {
  if (end.elsewhere) return end.elsewhere->sentence;
  if (end.cause == Cause::timed_out) {
    std::vector<int> late = end.late;
    for (int& rank : late) rank += end.first_rank;
    return context.program + " timed out after " + seconds(end.elapsed) + ": " + name_ranks(late) +
           (late.size() == 1 ? " was" : " were") + " still running";
  }
  if (end.cause == Cause::interrupted) {
    return signal_name(end.interrupt) + " arrived after " + seconds(end.elapsed) + " and was passed on to " +
           context.program;
  }
  const RankEnd& culprit = end.ranks[static_cast<std::size_t>(end.culprit)];
  return "rank " + std::to_string(end.first_rank + end.culprit) + " failed first: " + context.program +
         " (pid " + std::to_string(culprit.pid) + ") " + culprit.status.describe() + " after " +
         seconds(end.elapsed);
}

std::string report(const JobEnd& end, const ReportContext& context) {
  if (end.cause == Cause::all_done) return {};
  const std::string start = context.reporter + ": ";
  const std::string& where = end.elsewhere ? end.elsewhere->where : end.where;
  std::string out = start + where + (where.empty() ? "" : ": ") + first_sentence(end, context) + '\n';
  if (!context.last_errors.empty())
    out += start + "its last lines on standard error:\n" + indent(context.last_errors);
  const std::string others = describe_others(end, context.reporter);
  if (!others.empty()) out += start + (end.culprit >= 0 ? "the others: " : "") + others + '\n';
  return out;
}

std::string list_ranks(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last - first < 2) last = first;  // two neighbours read better one by one
    parts.push_back(std::to_string(ranks[first]));
    if (last > first) parts.back() += " to " + std::to_string(ranks[last]);
    first = last + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

}  // namespace parley::launch
