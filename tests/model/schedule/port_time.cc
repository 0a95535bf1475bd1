#include "tests/model/schedule/port_time.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace parley::schedule {
namespace {

class Clock {
 public:
  Clock(const Group& group, const std::vector<Schedule>& schedules, const Price& price)
      : group_(group), schedules_(schedules), price_(price), ranks_(schedules.size()) {}

  std::uint64_t run() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::uint32_t step = 0; step < schedules_[rank].steps.size(); ++step) {
        const Step& one = schedules_[rank].steps[step];
        if (one.kind == StepKind::receive) lanes_[{one.peer, rank}].receives.push_back(step);
        ranks_[rank].counters.push_back(schedules_[rank].steps[step].blockers);
        if (ranks_[rank].counters[step] == 0) push(0, begin, rank, step);
      }
    while (!events_.empty()) {
      const auto [time, kind, rank, step] = events_.top();
      events_.pop();
      now_ = time;
      if (kind == begin) start(rank, step);
      if (kind == end) finish(rank, step);
      if (kind == send_port) use_send_port(rank);
      if (kind == receive_port) use_receive_port(rank);
    }
    return now_;
  }

 private:
  // Of what happens at one time, in this order: ports look at all that is ready by then.
  enum Kind : std::uint8_t { end, begin, send_port, receive_port };
  using Event = std::tuple<std::uint64_t, Kind, std::uint32_t, std::uint32_t>;
  struct Arrival {
    std::uint32_t receive = 0;  // the step that it is for
    std::uint32_t from = 0;
    std::uint64_t price = 0;
    friend bool operator<(const Arrival& left, const Arrival& right) {
      return std::tie(left.receive, left.from) < std::tie(right.receive, right.from);
    }
  };
  struct Rank {
    std::vector<std::uint32_t> counters;
    std::set<std::uint32_t> ready_sends;
    std::set<Arrival> arrivals;
    std::uint64_t sending_until = 0;
    std::uint64_t receiving_until = 0;
    std::int32_t mark = mark_of(-1, Progress::entered);  // published last
  };
  struct Lane {
    std::vector<std::uint32_t> receives;  // steps, in order
    std::size_t sent = 0;
    std::deque<std::uint64_t> arrived;  // times, of messages whose receive has not begun
    std::deque<std::uint32_t> begun;    // receives whose message has not arrived
  };

  void push(std::uint64_t time, Kind kind, std::uint32_t rank, std::uint32_t step) {
    events_.push({time, kind, rank, step});
  }

  void start(std::uint32_t rank, std::uint32_t index) {
    const Step& step = schedules_[rank].steps[index];
    if (step.next_in_lane != no_step) unblock(rank, step.next_in_lane);
    if (step.kind == StepKind::send) {
      ranks_[rank].ready_sends.insert(index);
      push(now_, send_port, rank, 0);
    } else if (step.kind == StepKind::receive) {
      Lane& lane = lanes_[{step.peer, rank}];
      if (lane.arrived.empty()) {
        lane.begun.push_back(index);
      } else {
        push(std::max(now_, lane.arrived.front()), end, rank, index);
        lane.arrived.pop_front();
      }
    } else if (step.kind == StepKind::await && !has_come(rank, step)) {
      waiting_.emplace_back(rank, index);
    } else {
      push(now_, end, rank, index);
    }
  }

  bool has_come(std::uint32_t rank, const Step& step) const {
    for (std::uint32_t other = 0; other < ranks_.size(); ++other) {
      const bool is_meant =
          step.peer == other || (step.peer == everyone && group_.are_neighbours(rank, other));
      if (is_meant && ranks_[other].mark < step.mark) return false;
    }
    return true;
  }

  // Those who wait for marks look again. A mark takes no time, and no port.
  void publish(std::uint32_t rank, std::int32_t mark) {
    ranks_[rank].mark = mark;
    for (const auto& [other, index] : std::exchange(waiting_, {})) start(other, index);
  }

  void finish(std::uint32_t rank, std::uint32_t index) {
    const Step& step = schedules_[rank].steps[index];
    if (step.kind == StepKind::publish) publish(rank, step.mark);
    for (std::uint32_t i = 0; i < step.successor_count; ++i)
      unblock(rank, schedules_[rank].successors[step.first_successor + i]);
  }

  void unblock(std::uint32_t rank, std::uint32_t step) {
    if (--ranks_[rank].counters[step] == 0) push(now_, begin, rank, step);
  }

  void use_send_port(std::uint32_t rank) {
    Rank& one = ranks_[rank];
    if (one.ready_sends.empty() || one.sending_until > now_) return;
    const std::uint32_t index = *one.ready_sends.begin();
    one.ready_sends.erase(one.ready_sends.begin());
    const Step& step = schedules_[rank].steps[index];
    const bool is_far = group_.host(rank) != group_.host(step.peer);
    const std::uint64_t price = (is_far ? price_.far_message : price_.near_message) +
                                (is_far ? price_.far_element : price_.near_element) * step.from.count;
    one.sending_until = now_ + price;
    push(one.sending_until, end, rank, index);
    push(one.sending_until, send_port, rank, 0);
    Lane& lane = lanes_[{rank, step.peer}];
    ranks_[step.peer].arrivals.insert({lane.receives.at(lane.sent++), rank, price});
    push(now_, receive_port, step.peer, 0);
  }

  void use_receive_port(std::uint32_t rank) {
    Rank& one = ranks_[rank];
    if (one.arrivals.empty() || one.receiving_until > now_) return;
    const Arrival message = *one.arrivals.begin();
    one.arrivals.erase(one.arrivals.begin());
    one.receiving_until = now_ + message.price;
    push(one.receiving_until, receive_port, rank, 0);
    Lane& lane = lanes_[{message.from, rank}];
    const std::uint64_t there = one.receiving_until + price_.latency;
    if (lane.begun.empty()) {
      lane.arrived.push_back(there);
    } else {
      push(there, end, rank, lane.begun.front());
      lane.begun.pop_front();
    }
  }

  const Group& group_;
  const std::vector<Schedule>& schedules_;
  Price price_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waiting_;  // for marks: ranks and steps
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t now_ = 0;
};

}  // namespace

std::uint64_t port_time(const Group& group, const std::vector<Schedule>& schedules, const Price& price) {
  return Clock(group, schedules, price).run();
}

}  // namespace parley::schedule
