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

// Below that the paths are as good as each other.
constexpr float worth_a_change = 0.9F;
// Longer than that, once, was the scheduler.
constexpr float doubtful = 1.5F;
// Whatever disturbs makes a message longer, never shorter.
constexpr float weight_of_shorter = 0.5F;
constexpr float weight_of_longer = 0.25F;
// Of smaller messages by the link: after a pause its memory has left the caches, and the first ones take many
// times as long as those that follow.
constexpr float weight_of_pause = 1.0F / 64;

// What a trial counts for at most: one that met a disturbance shall not be the last for long.
constexpr float most_times_as_slow = 8;

constexpr std::uint32_t answers_that_make_up = 16;
}  // namespace

std::size_t PathChoice::class_of(std::size_t bytes) noexcept {
  const int above = static_cast<int>(std::bit_width(bytes - 1)) - first_width;
  return static_cast<std::size_t>(std::clamp(above, 0, static_cast<int>(classes) - 1));
}

Path PathChoice::choose(std::size_t bytes) noexcept {
  if (skip_ != 0) {
    --skip_;
    return Path::pull;
  }
  Class& of = classes_[class_of(bytes)];
  inherit(of);
  if (!of.on_trial) {
    if (of.wait != 0) {
      --of.wait;
      return of.favourite;
    }
    of.on_trial = true;
    of.tried = 0;
    Rate& rate = of.rates[place(other(of.favourite))];
    rate.cold = rate.ns_per_byte == 0 ? 2 : 1;
  }
  const Path tried = other(of.favourite);
  if (++of.tried == longest_trial) end_trial(of);
  return tried;
}

// A class of which nothing is known begins with what was found for the next smaller one: a window of large
// messages is long over before it has told anything.
void PathChoice::inherit(Class& of) noexcept {
  if (!std::exchange(of.is_new, false)) return;
  for (const Class* smaller = &of; smaller != classes_.data();) {
    --smaller;
    if (smaller->is_new) continue;
    of.favourite = smaller->favourite;
    return;
  }
}

bool PathChoice::wants_timing(Path path, std::size_t bytes) noexcept {
  Class& of = classes_[class_of(bytes)];
  inherit(of);
  if (path == of.favourite && of.rates[place(path)].ns_per_byte != 0 && ++of.untimed < favourites_per_timing)
    return false;
  of.untimed = 0;
  return true;
}

std::uint32_t PathChoice::pulled_classes() const noexcept {
  std::uint32_t pulled = 0;
  for (std::size_t i = 0; i < tender_classes; ++i)
    pulled |= (classes_[i].favourite == Path::pull ? 1U : 0U) << i;
  return pulled;
}

void PathChoice::end_trial(Class& of) noexcept {
  of.on_trial = false;
  const float favourite = of.rates[place(of.favourite)].ns_per_byte;
  const float tried = of.rates[place(other(of.favourite))].ns_per_byte;
  const auto times_as_slow =
      favourite == 0 ? 1U
                     : static_cast<std::uint32_t>(std::clamp(tried / favourite, 1.0F, most_times_as_slow));
  of.wait = of.restraint * std::max(of.tried, 1U) * times_as_slow;
  of.restraint = std::min(2 * of.restraint, most_restraint);
}

void PathChoice::begin(Path path, TimePoint now) noexcept {
  ++in_flight_[place(path)];
  if (in_flight_[place(other(path))] != 0) mixed_until_ = now;
}

void PathChoice::end(Path path, std::size_t bytes, TimePoint since, TimePoint now, bool whole) noexcept {
  const TimePoint begun = std::max(since, last_end_);
  last_end_ = now;
  --in_flight_[place(path)];
  if (in_flight_[place(other(path))] != 0) mixed_until_ = now;
  if (!whole || begun <= mixed_until_) return;

  Class& of = classes_[class_of(bytes)];
  const auto ns = std::chrono::duration<float, std::nano>(now - begun).count();
  const bool may_follow_pause = path == Path::link && class_of(bytes) < tender_classes;
  if (!take(of.rates[place(path)], ns / static_cast<float>(bytes),
            may_follow_pause ? weight_of_pause : weight_of_longer))
    return;
  if (of.on_trial && path != of.favourite) end_trial(of);
  const float now_better = of.rates[place(other(of.favourite))].ns_per_byte;
  if (now_better != 0 && now_better < worth_a_change * of.rates[place(of.favourite)].ns_per_byte)
    of.favourite = other(of.favourite);
}

// False: this one does not count.
bool PathChoice::take(Rate& rate, float ns_per_byte, float weight_of_more) noexcept {
  if (rate.cold != 0) {
    --rate.cold;
    return false;
  }
  if (rate.ns_per_byte == 0) {
    rate.ns_per_byte = ns_per_byte;
    return true;
  }
  const bool is_doubtful = ns_per_byte > doubtful * rate.ns_per_byte;
  if (is_doubtful && !rate.is_doubted) {
    rate.is_doubted = true;
    return false;
  }
  rate.is_doubted = false;
  const float more = ns_per_byte - rate.ns_per_byte;
  rate.ns_per_byte += more * (more < 0 ? weight_of_shorter : weight_of_more);
  return true;
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
  skip_next_ = std::min(2 * skip_next_, most_skip);
  answered_ = 0;
}

}  // namespace parley::transport
