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
// But until so many were timed, all are: the first ones touch memory that the later ones find.
constexpr std::uint8_t few_samples = 4;

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

// Arrivals that tell whether traffic goes both ways; between the two bounds it is what it was.
constexpr std::uint32_t most_arrivals = 16;
constexpr std::uint32_t both_ways_from = 12;
constexpr std::uint32_t one_way_until = 4;
// How much longer a pull may take then: the link has two processes copy each byte.
constexpr float copies_of_link = 2;
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
  if (better_now(of) != of.favourite) return Path::pull;  // of which there is no need to try the other one
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

Path PathChoice::better_now(const Class& of) const noexcept {
  if (!is_both_ways_ || of.favourite == Path::pull) return of.favourite;
  const float pull = of.rates[place(Path::pull)].ns_per_byte;
  return pull > copies_of_link * of.rates[place(Path::link)].ns_per_byte ? Path::link : Path::pull;
}

void PathChoice::note_arrival(bool beside_own_sends) noexcept {
  if (beside_own_sends)
    beside_own_ = std::min(beside_own_ + 1, most_arrivals);
  else if (beside_own_ != 0)
    --beside_own_;
  if (beside_own_ >= both_ways_from) is_both_ways_ = true;
  if (beside_own_ <= one_way_until) is_both_ways_ = false;
}

bool PathChoice::wants_timing(Path path, std::size_t bytes) noexcept {
  Class& of = classes_[class_of(bytes)];
  inherit(of);
  if (may_skip_timing(of, path) && ++of.untimed < favourites_per_timing) return false;
  of.untimed = 0;
  return true;
}

bool PathChoice::times_next(Path path, std::size_t bytes) const noexcept {
  const Class& of = classes_[class_of(bytes)];
  return !may_skip_timing(of, path) || of.untimed + 1 >= favourites_per_timing;
}

bool PathChoice::may_skip_timing(const Class& of, Path path) noexcept {
  return path == of.favourite && of.rates[place(path)].counted == few_samples;
}

std::uint32_t PathChoice::pulled_classes() const noexcept {
  std::uint32_t pulled = 0;
  for (std::size_t i = 0; i < tender_classes; ++i)
    pulled |= (better_now(classes_[i]) == Path::pull ? 1U : 0U) << i;
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

PathChoice::Start PathChoice::begin(Path path, TimePoint now) noexcept {
  ++in_flight_[place(path)];
  if (in_flight_[place(other(path))] != 0) mixed_until_ = now;
  return start(now);
}

void PathChoice::end(Path path, std::size_t bytes, const Start& since, TimePoint now, bool whole) noexcept {
  const Start begun = last_end_.at > since.at ? last_end_ : since;
  if (whole) note_end(bytes);
  last_end_ = start(now);
  --in_flight_[place(path)];
  if (in_flight_[place(other(path))] != 0) mixed_until_ = now;
  if (!whole || begun.at <= mixed_until_) return;
  const bool beside_own_pieces = begun.own_pieces != own_pieces_;
  if (path == Path::pull && beside_own_pieces) return;

  Class& of = classes_[class_of(bytes)];
  const auto took = std::chrono::duration<float, std::nano>(now - begun.at).count();
  const float ns = beside_own_pieces ? took / copies_of_link : took;
  const auto served_bytes = static_cast<float>(ended_bytes_ - begun.ended_bytes);
  const bool may_follow_pause = path == Path::link && !begun.in_stream && class_of(bytes) < tender_classes;
  if (!take(of.rates[place(path)], ns / served_bytes, may_follow_pause ? weight_of_pause : weight_of_longer))
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
  rate.counted = std::min<std::uint8_t>(rate.counted + 1, few_samples);
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
  const bool was_disturbed = 2 * ns_per_byte < rate.ns_per_byte;
  rate.ns_per_byte += more * (more > 0 ? weight_of_more : was_disturbed ? 1 : weight_of_shorter);
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
