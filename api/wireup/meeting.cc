// One meeting is three keys under its own: `who`, to which each member appends a line; `count`, of those who
// have; `result`, written once, by the last member to come or by the first to give up. Whoever is the last to
// have read a good result removes them; after a bad one they stay, for who comes late. Who has waited long
// leaves a note of what it waits for (`groups/waiting/RANK`), while it does.
#include "api/wireup/meeting.h"

#include <parley/error.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "api/wireup/last_word.h"
#include "api/wireup/round.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

using base::concat;
using base::Deadline;
using Clock = base::Clock;

// How often who waits looks whether the others live, and how often it asks the store about them; more seldom
// where many wait together.
constexpr auto look_period = std::chrono::milliseconds(100);
constexpr auto inquiry_period = std::chrono::seconds(1);
constexpr auto more_per_member = std::chrono::milliseconds(3);
// Of those who have not come.
constexpr std::size_t most_inquired = 8;
// A member that comes later than this is missed: the others say what they wait for, and read what it does.
constexpr auto missed_after = std::chrono::seconds(1);

// What is to be found out when the deadline has passed, or just before, is worth a moment more.
Deadline a_moment() {
  return Deadline::after(std::chrono::seconds(2));
}

// "KIND CULPRIT\nTEXT".
struct Result {
  enum class Kind : char { met = 'm', died = 'd', left = 'l', cut_off = 'c', late = 't', apart = 'a' };
  Kind kind = Kind::met;
  std::int64_t number = 0;  // met: what Minutes tell; else the rank whose doing it is, or -1
  std::string text;         // met: a line for each who came; else what to tell

  [[nodiscard]] std::string encode() const {
    return concat(std::string(1, static_cast<char>(kind)), number, '\n', text);
  }
  static Result decode(std::string_view code) {
    Result result;
    if (code.empty()) return result;
    result.kind = static_cast<Kind>(code.front());
    const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), result.number);
    if (error == std::errc() && end != code.data() + code.size())
      result.text = code.substr(static_cast<std::size_t>(end - code.data()) + 1);
    return result;
  }
};

struct Line {
  int rank = 0;
  std::string_view contribution;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Line parsed;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), parsed.rank);
    if (error != std::errc()) continue;
    parsed.contribution = line.substr(std::min(line.size(), static_cast<std::size_t>(end - line.data()) + 1));
    lines.push_back(parsed);
  }
  return lines;
}

class Meeting {
 public:
  Meeting(const World& world, const Agenda& agenda)
      : world_(world),
        agenda_(agenda),
        store_(world.store.get()),
        deadline_(Deadline::after(agenda.timeout)) {
    if (store_ == nullptr) throw StoreLostError(concat(agenda.call, ": the world has left its store"));
  }
  ~Meeting() { take_note_away(); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  Minutes hold() {
    enter();
    const Result result = await_result();
    if (result.kind != Result::Kind::met) fail(result);
    take_note_away();  // before the result goes: see look_for_others_elsewhere()
    clean_up([&] { part(); });
    return minutes_of(result);
  }

 private:
  [[nodiscard]] std::string key(std::string_view part) const { return concat(agenda_.key, '/', part); }
  [[nodiscard]] std::string note_key(int rank) const { return world_.group_key(concat("waiting/", rank)); }
  [[nodiscard]] std::chrono::nanoseconds spread() const {
    return more_per_member * static_cast<int>(agenda_.members.size());
  }

  // A note that stayed would mislead others.
  void take_note_away() noexcept {
    if (!std::exchange(has_note_, false)) return;
    clean_up([&] { store_->remove(note_key(world_.rank), a_moment().remaining()); });
  }

  // What the others do not need any more changes nothing for us.
  template <typename Action>
  void clean_up(const Action& action) const noexcept {
    try {
      action();
    } catch (const std::exception& error) {
      PARLEY_LOG(debug, "init", agenda_.call, " leaves keys in the store: ", error.what());
    }
  }

  void enter() {
    const std::string line = concat(world_.rank, ' ', agenda_.contribution, '\n');
    store_->append(key("who"), std::as_bytes(std::span(line)), deadline_.remaining());
    // From here on the others count on us. Whoever is late now does not leave before there is a result:
    // await_result() sees to it.
    try {
      const std::int64_t count = store_->add(key("count"), 1, deadline_.remaining());
      if (count != static_cast<std::int64_t>(agenda_.members.size())) return;
      const std::int64_t number = store_->add(world_.group_key("numbers"), 1, deadline_.remaining());
      settle({Result::Kind::met, number, read_text(*store_, key("who"), deadline_)});
    } catch (const StoreTimeoutError& error) {
      PARLEY_LOG(debug, "init", agenda_.call, " is late: ", error.what());
    }
  }

  // The first result stands.
  void settle(const Result& result) { settle(agenda_.key, result); }
  void settle(const std::string& meeting, const Result& result) {
    exchange_text(*store_, concat(meeting, "/result"), {}, result.encode(), a_moment());
  }

  Result await_result() {
    const std::chrono::nanoseconds look = look_period + spread() / 3;
    const auto begin = Clock::now();
    auto inquiry = begin + missed_after;
    auto reminder = begin + reminder_period;
    while (!deadline_.expired()) {
      try {
        return read_result(std::min(look, deadline_.remaining()));
      } catch (const StoreTimeoutError&) {
      }
      look_for_losses();
      const auto now = Clock::now();
      if (now >= inquiry) {
        inquire(now >= reminder);
        inquiry = now + inquiry_period + spread();
        if (now >= reminder) reminder = now + reminder_period;
      }
    }
    settle({Result::Kind::late, -1, concat("timed out: ", missing_text())});
    return read_result(a_moment().remaining());  // perhaps another's
  }

  Result read_result(std::chrono::nanoseconds patience) {
    return Result::decode(store_->get_string(key("result"), patience));
  }

  // Asks the store about those who have not come. A store that does not answer now tells nothing.
  void inquire(bool remind) try {
    leave_note();
    const std::vector<int> ranks = missing();
    if (world_.on_demand) look_for_deaths(ranks);
    look_for_others_elsewhere(ranks);
    if (remind) PARLEY_LOG(warn, "init", agenda_.call, " waits: ", missing_text());
  } catch (const StoreTimeoutError& error) {
    PARLEY_LOG(debug, "init", agenda_.call, " goes on waiting: ", error.what());
  }

  // A member that is gone will not come, or is of no use if it has.
  void look_for_losses() {
    // Looks at the descriptors that tell of an end, if nobody else does.
    world_.engine->wait_until([](const transport::Messenger&) { return false; },
                              std::chrono::milliseconds(1));
    for (const int member : agenda_.members) {
      if (member == world_.rank) continue;
      const auto [reason, culprit] = world_.engine->inspect([&](const transport::Messenger& messenger) {
        const auto number = static_cast<std::uint32_t>(member);
        const base::Status end = messenger.known_peers().reason(number);
        return std::pair(end, end.ok() ? member : static_cast<int>(messenger.peer(number).culprit));
      });
      if (reason.ok()) continue;
      if (reason.code() == base::Code::closed)
        throw UsageError(concat(agenda_.call, " failed: the world was destroyed meanwhile"));
      return settle(loss_of(member, reason.code(), culprit));
    }
  }

  [[nodiscard]] Result loss_of(int member, base::Code code, int culprit) const {
    const std::string name = world_.name_of(member);
    if (code == base::Code::gone) {  // nobody was there to be linked to: the store knows more
      const auto word = find_last_word(world_, member, Asker::call);
      code = word && !word->culprit ? base::Code::peer_left : base::Code::peer_died;
      culprit = word && word->culprit ? *word->culprit : member;
    }
    if (code == base::Code::peer_left)
      return {Result::Kind::left, member, concat("failed: ", name, " has left the world")};
    if (code == base::Code::peer_died && culprit == member)
      return {Result::Kind::died, member, concat("failed: ", name, " died")};
    if (code == base::Code::peer_died)
      return {Result::Kind::died, culprit,
              concat("failed: ", name, " left because ", world_.name_of(culprit), " died")};
    return {Result::Kind::cut_off, member,
            concat("failed: the link between ", world_.name_of(world_.rank), " and ", name, " is closed")};
  }

  // Of those to whom we have no link: others may have seen them die, or they have left a word.
  void look_for_deaths(const std::vector<int>& ranks) {
    for (const Death& death : read_deaths(*store_, world_.last_words, a_moment()))
      if (std::find(ranks.begin(), ranks.end(), death.rank) != ranks.end())
        return settle(loss_of(death.rank, base::Code::peer_died, death.culprit));
    for (std::size_t i = 0; i < std::min(ranks.size(), most_inquired); ++i)
      if (read_last_word(*store_, world_.last_words, ranks[i], a_moment()))
        return settle(loss_of(ranks[i], base::Code::gone, ranks[i]));
  }

  [[nodiscard]] std::vector<int> missing() const {
    const std::string who = read_text(*store_, key("who"), a_moment());
    const std::vector<Line> lines = lines_of(who);
    std::vector<int> result;
    for (const int member : agenda_.members)
      if (std::none_of(lines.begin(), lines.end(), [&](const Line& line) { return line.rank == member; }))
        result.push_back(member);
    return result;
  }

  // "rank 1 (host, pid 12) has not called it, but new_group({0, 1, 2})".
  [[nodiscard]] std::string missing_text() const {
    std::string text;
    const std::vector<int> ranks = missing();
    for (std::size_t i = 0; i < std::min(ranks.size(), most_inquired); ++i) {
      const auto note = read_note(ranks[i]);
      const bool is_elsewhere = note && note->key != agenda_.key;
      text += concat(i == 0 ? "" : "; ", world_.name_of(ranks[i]), " has not called it",
                     is_elsewhere ? concat(", but ", note->call) : std::string());
    }
    if (ranks.size() > most_inquired) text += concat("; nor have ", ranks.size() - most_inquired, " more");
    return text.empty() ? "all have called it now" : text;
  }

  // What a member that waits has left for those it may keep waiting: "HELPED KEY\nCALL\n RANK RANK ... ".
  struct Note {
    bool may_be_helped = false;
    std::string key;
    std::string call;
    std::string members;  // " 0 2 "
    std::string text;
  };

  [[nodiscard]] std::optional<Note> read_note(int rank) const {
    Note note;
    note.text = read_text(*store_, note_key(rank), a_moment());
    const auto first = note.text.find('\n');
    const auto second = note.text.find('\n', first + 1);
    if (note.text.size() < 2 || first == std::string::npos || second == std::string::npos)
      return std::nullopt;
    note.may_be_helped = note.text.front() == '1';
    note.key = note.text.substr(2, first - 2);
    note.call = note.text.substr(first + 1, second - first - 1);
    note.members = note.text.substr(second + 1);
    return note;
  }

  void leave_note() {
    if (has_note_) return;
    may_be_helped_ = agenda_.gives_up || world_.engine->has_other_hands();
    std::string text = concat(may_be_helped_ ? "1 " : "0 ", agenda_.key, '\n', agenda_.call, "\n ");
    for (const int member : agenda_.members) text += concat(member, ' ');
    store_->set_string(note_key(world_.rank), text, a_moment().remaining());
    has_note_ = true;
  }

  // A member whose one thread is in another call that waits for us, as we wait for it, never comes; unless
  // one of us means to give up. (Two threads of a process that both wait share a note, and are never sure.)
  void look_for_others_elsewhere(const std::vector<int>& ranks) {
    if (may_be_helped_) return;
    const std::string we = concat(' ', world_.rank, ' ');
    for (std::size_t i = 0; i < std::min(ranks.size(), most_inquired); ++i) {
      const int member = ranks[i];
      const auto note = read_note(member);
      const bool waits_for_us = note && !note->may_be_helped && note->key != agenda_.key &&
                                note->members.find(we) != std::string::npos;
      if (!waits_for_us) continue;
      // It may have its result already, and so have been waiting for somebody else: then its note goes before
      // the result does.
      const bool is_over = !read_text(*store_, concat(note->key, "/result"), a_moment()).empty();
      const auto again = read_note(member);
      if (is_over || !again || again->text != note->text) continue;
      const Result apart{Result::Kind::apart, member,
                         concat("failed: ", world_.name_of(world_.rank), " is in ", agenda_.call, ", but ",
                                world_.name_of(member), " is in ", note->call)};
      settle(note->key, apart);
      return settle(apart);
    }
  }

  [[nodiscard]] Minutes minutes_of(const Result& result) const {
    Minutes minutes;
    minutes.number = result.number;
    minutes.contributions.resize(agenda_.members.size());
    for (const Line& line : lines_of(result.text)) {
      const auto member = std::find(agenda_.members.begin(), agenda_.members.end(), line.rank);
      if (member == agenda_.members.end()) continue;
      minutes.contributions[static_cast<std::size_t>(member - agenda_.members.begin())] = line.contribution;
    }
    return minutes;
  }

  // The result was good, and we have read it.
  void part() {
    if (store_->add(key("count"), -1, deadline_.remaining()) != 0) return;
    for (const char* name : {"who", "count", "result"}) store_->remove(key(name), deadline_.remaining());
  }

  [[noreturn]] void fail(const Result& result) const {
    ErrorDetails details;
    details.rank = world_.rank;
    details.culprit = static_cast<int>(result.number);
    details.operation = agenda_.call.substr(0, agenda_.call.find('('));
    if (details.culprit >= 0 && details.culprit < world_.size) {
      details.host = world_.roster->topology().host_of(details.culprit).name;
      details.pid = world_.roster->pid_of(details.culprit);
    }
    const std::string what = concat("rank ", world_.rank, ": ", agenda_.call, ' ', result.text);
    switch (result.kind) {
      case Result::Kind::died: throw PeerDiedError(what, details);
      case Result::Kind::left: throw PeerLeftError(what, details);
      case Result::Kind::cut_off: throw LinkLostError(what, details);
      case Result::Kind::apart: throw MismatchError(what, details);
      case Result::Kind::late: throw TimeoutError(what, details);
      case Result::Kind::met: break;
    }
    throw StoreError(concat(what, ": the store holds no result that we know"), details);
  }

  const World& world_;
  const Agenda& agenda_;
  const std::shared_ptr<Store> store_;
  const Deadline deadline_;
  bool has_note_ = false;
  bool may_be_helped_ = true;
};

}  // namespace

Minutes meet(const World& world, const Agenda& agenda) {
  return Meeting(world, agenda).hold();
}

}  // namespace parley::wireup
