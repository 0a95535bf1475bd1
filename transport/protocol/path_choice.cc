#include "transport/protocol/path_choice.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace parley::transport {

namespace {
constexpr int first_width = 14;  // bits of what is less than 16 KiB
// Messages of a favourite between two that are timed; a look at the clock takes a tenth of the shortest one's
// time.
constexpr std::uint32_t favourites_per_timing = 8;
// Of smaller messages by the link: after a pause its memory has left the caches, and the first ones take many
// times as long as those that follow.
constexpr float weight_of_pause = 1.0F / 64;

// Of a rate, in samples of the other path: what it took then tells little of what it takes now.
constexpr std::uint32_t old_age = 16;
// Samples in a row by which the favourite is the slower one, after which the other one is tried: fewer may be
// a burst after other work, with cold caches.
constexpr std::uint32_t long_spell = 16;
// Messages of a new favourite before the other one is tried.
constexpr std::uint32_t after_change = 64;

// What a pull, and what the link, takes at most, as a share of what the other one does, to replace it.
using Worth = std::array<float, 2>;
constexpr Worth worth_in_windows = {1, 0.75F};
constexpr Worth worth_of_large_ones = {0.8F, 0.95F};
constexpr std::size_t windowed_classes = 6;  // up to 512 KiB

// What a trial counts for at most: one that met a disturbance shall not be the last for long.
constexpr float most_times_as_slow = 8;

constexpr std::uint32_t answers_that_make_up = 16;

// Of the last messages, about, those that tell one thing; between the two bounds all is as it was.
constexpr std::uint8_t last_messages = 16;
constexpr std::uint8_t is_so_from = 12;
constexpr std::uint8_t is_not_so_until = 4;
// How much longer a pull may take then: the link has two processes copy each byte.
constexpr float copies_of_link = 2;
}  // namespace

std::size_t PathChoice::class_of(std::size_t bytes) noexcept {
  const int above = static_cast<int>(std::bit_width(bytes - 1)) - first_width;
  return static_cast<std::size_t>(std::clamp(above, 0, static_cast<int>(classes) - 1));
}

Path PathChoice::choose(std::size_t bytes, Lead lead) noexcept {
  if (!may_ask()) return Path::pull;
  const std::size_t place = class_of(bytes);
  if (is_joint(place) && lead == Lead::peers) return habits_[place - tender_classes].path;
  inherit(place);
  Class& of = classes_[place];
  const Path better = better_now(place);
  // Then there is no need to know more of the favourite.
  if (!is_joint(place) && better != of.favourite) return better;
  if (!of.on_trial) {
    if (of.wait != 0) {
      --of.wait;
      return better;
    }
    begin_trial(place, other(better));
  }
  const Path tried = of.trial;
  if (++of.tried >= most_to_try(place)) end_trial(place);
  return tried;
}

std::uint32_t PathChoice::most_to_try(std::size_t place) const noexcept {
  if (!is_joint(place)) return classes_[place].longest_trial;
  return classes_[place].trial == Path::pull ? pulls_to_try : longest_try_of_link;
}

// A class of which nothing is known begins with what was found for the next smaller one: a window of large
// messages is long over before it has told anything.
void PathChoice::inherit(std::size_t place) noexcept {
  Class& of = classes_[place];
  if (!std::exchange(of.is_new, false)) return;
  for (const Class* smaller = &of; smaller != classes_.data();) {
    --smaller;
    if (smaller->is_new) continue;
    of.favourite = smaller->favourite;
    of.restraint = std::max(smaller->restraint >> (&of - smaller), least_restraint);
    if (of.restraint > least_restraint) of.wait = first_trial_after * of.restraint;
    return;
  }
}

Path PathChoice::better_now(std::size_t place) const noexcept {
  if (is_joint(place)) return costs_.cheaper(place - tender_classes);
  const Class& of = classes_[place];
  // Where cores are shared, the rates count both processes' copies.
  if (!is_both_ways_ || shares_cores_ || of.favourite == Path::pull) return of.favourite;
  const float pull = of.rates[index(Path::pull)].ns_per_byte;
  return pull > copies_of_link * of.rates[index(Path::link)].ns_per_byte ? Path::link : Path::pull;
}

float PathChoice::cost_now(std::size_t place, Path path) const noexcept {
  return is_joint(place) ? costs_.ns_per_byte(place - tender_classes, path)
                         : classes_[place].rates[index(path)].ns_per_byte;
}

void PathChoice::note_copies(std::size_t bytes, const CopyNews& news) noexcept {
  const bool by_link_alone = std::exchange(by_link_alone_, in_flight_[index(Path::pull)] == 0);
  const std::size_t place = class_of(bytes);
  if (!is_joint(place)) return;
  const Class& of = classes_[place];
  const bool has_learnt = costs_.note(place - tender_classes, news, by_link_alone, of.trial);
  if (of.on_trial && has_learnt) end_trial(place);
}

void PathChoice::note_offered(std::size_t bytes) noexcept {
  const std::size_t place = class_of(bytes);
  if (place >= tender_classes) habits_[place - tender_classes].has_offers = true;
}

void PathChoice::note_taken(std::size_t bytes, Path path) noexcept {
  note_other_way();
  const std::size_t place = class_of(bytes);
  if (path == Path::pull) by_link_alone_ = false;
  if (place < tender_classes) return;
  Habit& habit = habits_[place - tender_classes];
  if (path == Path::pull)
    habit.pulls = std::min<std::uint8_t>(habit.pulls + 1, last_messages);
  else if (habit.pulls != 0)
    --habit.pulls;
  if (habit.pulls >= is_so_from) habit.path = Path::pull;
  if (habit.pulls <= is_not_so_until) habit.path = Path::link;
}

void PathChoice::note_arrival(bool beside_own_sends) noexcept {
  if (beside_own_sends) {
    beside_own_ = std::min<std::uint32_t>(beside_own_ + 1, last_messages);
    arrivals_alone_ = 0;
  } else {
    if (beside_own_ != 0) --beside_own_;
    ++arrivals_alone_;
  }
  if (beside_own_ >= is_so_from) is_both_ways_ = true;
  if (arrivals_alone_ >= arrivals_of_one_way) is_both_ways_ = false;
}

bool PathChoice::wants_timing(Path path, std::size_t bytes) noexcept {
  inherit(class_of(bytes));
  Class& of = classes_[class_of(bytes)];
  if (may_skip_timing(of, path) && ++of.untimed < favourites_per_timing) return false;
  of.untimed = 0;
  return true;
}

bool PathChoice::times_next(Path path, std::size_t bytes) const noexcept {
  const Class& of = classes_[class_of(bytes)];
  return !may_skip_timing(of, path) || of.untimed + 1 >= favourites_per_timing;
}

bool PathChoice::may_skip_timing(const Class& of, Path path) noexcept {
  return path == of.favourite && of.rates[index(path)].counted == CopyRate::few_samples;
}

std::uint32_t PathChoice::pulled_classes() const noexcept {
  std::uint32_t pulled = 0;
  for (std::size_t i = 0; i < tender_classes; ++i) pulled |= (better_now(i) == Path::pull ? 1U : 0U) << i;
  return pulled;
}

void PathChoice::begin_trial(std::size_t place, Path trial) noexcept {
  Class& of = classes_[place];
  of.on_trial = true;
  of.trial = trial;
  of.tried = of.slower = 0;
  if (trial == of.favourite) return;
  CopyRate& rate = of.rates[index(trial)];
  // The trial before has told nothing: it was but a part of a window.
  if (rate.is_old && !is_joint(place)) of.longest_trial = std::min(2 * of.longest_trial, most_of_a_trial);
  rate.begin_anew();
}

void PathChoice::end_trial(std::size_t place) noexcept {
  Class& of = classes_[place];
  of.on_trial = false;
  const float usual = cost_now(place, other(of.trial));
  const float tried = cost_now(place, of.trial);
  const auto times_as_slow =
      usual == 0 ? 1U : static_cast<std::uint32_t>(std::clamp(tried / usual, 1.0F, most_times_as_slow));
  // It has told nothing, ever: it is made again soon, as long as a longer one may tell something.
  const bool is_hopeful = tried == 0 && of.longest_trial < most_of_a_trial;
  const std::uint32_t took = is_hopeful ? first_trial_after : std::max(of.tried, 1U) * times_as_slow;
  of.wait = of.restraint * took;
  if (!is_hopeful) of.restraint = std::min(2 * of.restraint, most_restraint);
}

PathChoice::Start PathChoice::begin(Path path, TimePoint now) noexcept {
  if (path == Path::pull) by_link_alone_ = false;
  ++in_flight_[index(path)];
  if (in_flight_[index(other(path))] != 0) mixed_until_ = now;
  return start(now);
}

void PathChoice::end(Path path, std::size_t bytes, const Start& since, TimePoint now, bool whole) noexcept {
  const Start begun = last_end_.at > since.at ? last_end_ : since;
  if (whole) note_end(bytes);
  last_end_ = start(now);
  --in_flight_[index(path)];
  if (in_flight_[index(other(path))] != 0) mixed_until_ = now;
  if (!whole || begun.at <= mixed_until_) return;
  const bool beside_own_pieces = begun.own_pieces != own_pieces_;
  if (path == Path::pull && beside_own_pieces) return;

  const std::size_t place = class_of(bytes);
  Class& of = classes_[place];
  const auto took = std::chrono::duration<float, std::nano>(now - begun.at).count();
  float ns = took;
  if (beside_own_pieces) ns /= copies_of_link;                    // half of it was ours
  if (path == Path::link && shares_cores_) ns *= copies_of_link;  // and the sender's copy took its core
  const auto served_bytes = static_cast<float>(ended_bytes_ - begun.ended_bytes);
  const bool may_follow_pause = path == Path::link && !since.in_stream && place < tender_classes;
  const float weight = may_follow_pause ? weight_of_pause : CopyRate::usual_weight_of_longer;
  CopyRate& rate = of.rates[index(path)];
  const bool is_favourite = path == of.favourite;
  if (!is_favourite && !rate.is_old && rate.ns_per_byte != 0 && of.age == old_age) rate.begin_anew();
  if (!rate.take(ns / served_bytes, weight)) return;
  of.age = is_favourite ? std::min(of.age + 1, old_age) : 0;
  if (of.on_trial && path == of.trial && rate.counted == CopyRate::few_samples && !is_joint(place))
    end_trial(place);
  compare(place, path);
}

void PathChoice::compare(std::size_t place, Path sampled) noexcept {
  Class& of = classes_[place];
  const CopyRate& others = of.rates[index(other(of.favourite))];
  const auto& is_worth = place < windowed_classes ? worth_in_windows : worth_of_large_ones;
  const bool is_slower =
      others.ns_per_byte != 0 &&
      others.ns_per_byte < is_worth[index(other(of.favourite))] * of.rates[index(of.favourite)].ns_per_byte;
  if (sampled != of.favourite) {
    // Of samples that nobody has waited for before the next message, the first one alone says little.
    if (is_slower && (of.on_trial || others.counted == CopyRate::few_samples)) change(place);
    return;
  }
  const bool is_known_now = of.rates[index(sampled)].counted == CopyRate::few_samples;
  const bool was_known = std::exchange(of.is_known, of.is_known || is_known_now);
  if (is_joint(place)) {
    of.slower = 0;
    return;
  }
  const bool is_news = is_known_now && !was_known && others.counted == CopyRate::few_samples;
  if (is_news && is_slower) return change(place);
  of.slower = is_slower ? of.slower + 1 : 0;
  const bool may_tell = !others.is_old || of.longest_trial < most_of_a_trial;
  if (of.slower == long_spell && !of.on_trial && may_tell) of.wait = 0;
}

void PathChoice::change(std::size_t place) noexcept {
  Class& of = classes_[place];
  of.favourite = other(of.favourite);
  of.age = of.slower = 0;
  if (is_joint(place)) return;  // what is tried does not depend on it
  of.on_trial = false;
  of.restraint = least_restraint;
  of.wait = after_change;
}

std::chrono::nanoseconds PathChoice::pull_time(std::size_t bytes) const noexcept {
  for (std::size_t place = class_of(bytes) + 1; place-- != 0;)
    if (const float rate = classes_[place].rates[index(Path::pull)].ns_per_byte; rate != 0)
      return std::chrono::nanoseconds(static_cast<std::int64_t>(rate * static_cast<float>(bytes)));
  return {};
}

void PathChoice::note_answered() noexcept {
  if (skip_next_ == least_skip || ++answered_ < answers_that_make_up) return;
  answered_ = 0;
  skip_next_ /= 2;
}

void PathChoice::note_unanswered() noexcept {
  // What was asked for together counts once.
  if (skip_ != 0) return;
  skip_ = skip_next_;
  if (!shares_cores_) skip_next_ = std::min(2 * skip_next_, most_skip);
  answered_ = 0;
}

}  // namespace parley::transport
