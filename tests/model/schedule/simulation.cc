#include "tests/model/schedule/simulation.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <sstream>
#include <utility>

#include "tests/model/schedule/boards.h"

namespace parley::schedule {
namespace {

// The three places of one rank; in place, the caller's two lie in one.
class Memory {
 public:
  Memory(const Case& one, const Shape& shape, std::uint64_t scratch_count) {
    const std::uint64_t in = input_count(one.operation, shape), out = output_count(one.operation, shape);
    if (shape.in_place) {
      const InPlaceLayout layout = in_place_layout(one.operation, shape);
      origin_ = {layout.input_begin, layout.output_begin, 0};
      buffer_ = {1, 1, 2};
      fill(1, std::max(origin_[0] + in, origin_[1] + out));
    } else {
      fill(0, in);
      fill(1, out);
    }
    fill(2, scratch_count);
    output_count_ = out;
    for (std::uint64_t i = 0; i < in; ++i) at({Space::input, i, 1})[0] = contribution(shape.rank, i);
  }

  std::vector<Value> output() {
    const std::span<Value> values = at({Space::output, 0, output_count_});
    return {values.begin(), values.end()};
  }
  std::span<Value> at(const Slice& slice) {
    const auto place = static_cast<std::size_t>(slice.space);
    return std::span(buffers_[buffer_[place]]).subspan(origin_[place] + slice.begin, slice.count);
  }

 private:
  void fill(std::size_t buffer, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) buffers_[buffer].push_back(garbage(buffer << 32 | i));
  }

  std::array<std::vector<Value>, 3> buffers_;
  std::array<std::size_t, 3> buffer_{0, 1, 2};
  std::array<std::uint64_t, 3> origin_{};
  std::uint64_t output_count_ = 0;
};

struct StepId {
  std::uint32_t rank = 0;
  std::uint32_t step = no_step;
};

struct Message {
  StepId sender, receiver;
  bool buffered = false;
  bool captured = false;  // buffered: the link has its copy
  std::vector<Value> data = {};
};

class Machine {
 public:
  Machine(const Group& group, const std::vector<Schedule>& schedules, Sends sends, std::uint32_t seed)
      : group_(group), schedules_(schedules), sends_(sends), random_(seed), boards_(group, schedules, seed) {
    for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
      const Schedule& schedule = schedules[rank];
      memories_.emplace_back(group.what(), group.shape(rank), schedule.scratch_count);
      counters_.emplace_back();
      unfinished_.push_back(schedule.steps.size());
      for (std::uint32_t step = 0; step < schedule.steps.size(); ++step) {
        counters_[rank].push_back(schedule.steps[step].blockers);
        if (schedule.steps[step].blockers == 0) events_.push_back({begin, {rank, step}, 0});
      }
    }
  }

  std::string run() {
    run_events();
    if (problem_.empty() && unfinished() > 0) problem_ = deadlock();
    if (!problem_.empty()) return problem_;
    std::vector<std::vector<Value>> outputs;
    for (Memory& memory : memories_) outputs.push_back(memory.output());
    return group_.check(outputs);
  }

  std::string run_without(std::uint32_t late) {
    std::erase_if(events_, [&](const Event& event) { return event.id.rank == late; });
    run_events();
    for (std::uint32_t rank = 0; rank < unfinished_.size(); ++rank)
      if (unfinished_[rank] == 0)
        return "rank " + std::to_string(rank) + " is done before rank " + std::to_string(late) + " came";
    return problem_;
  }

 private:
  enum EventKind : std::uint8_t { begin, capture, deliver };
  struct Event {
    EventKind kind;
    StepId id;                // begin
    std::size_t message = 0;  // capture, deliver
  };
  // Messages of one lane, by number, and how many each end has begun.
  struct Lane {
    std::vector<std::size_t> messages;
    std::size_t sent = 0;
    std::size_t received = 0;
  };

  void run_events() {
    while (!events_.empty() && problem_.empty()) {
      std::swap(events_[random_() % events_.size()], events_.back());
      const Event event = events_.back();
      events_.pop_back();
      handle(event);
    }
  }

  std::size_t unfinished() const {
    return std::accumulate(unfinished_.begin(), unfinished_.end(), std::size_t{0});
  }

  const Step& step(StepId id) const { return schedules_[id.rank].steps[id.step]; }

  void handle(const Event& event) {
    if (event.kind == capture) {
      Message& message = messages_[event.message];
      message.data = read(message.sender, step(message.sender).from);
      message.captured = true;
      end(message.sender);
      if (message.receiver.step != no_step) events_.push_back({deliver, {}, event.message});
    } else if (event.kind == deliver) {
      Message& message = messages_[event.message];
      const Step& receiving = step(message.receiver);
      if (!message.buffered) {
        message.data = read(message.sender, step(message.sender).from);
        end(message.sender);
      }
      write(message.receiver, receiving.to, message.data);
      end(message.receiver);
    } else {
      start(event.id);
    }
  }

  void start(StepId id) {
    const Step& now = step(id);
    if (now.next_in_lane != no_step) unblock({id.rank, now.next_in_lane});
    switch (now.kind) {
      case StepKind::send: return start_send(id, now);
      case StepKind::receive: return start_receive(id, now);
      case StepKind::copy: start_copy(id, now); break;
      case StepKind::reduce: {
        const std::vector<Slice>& operands = schedules_[id.rank].operands;
        std::vector<Value> fold = read(id, operands[now.first_operand]);
        for (std::uint32_t i = 1; i < now.operand_count; ++i) {
          const std::vector<Value> right = read(id, operands[now.first_operand + i]);
          for (std::uint64_t at = 0; at < fold.size(); ++at) fold[at] = fold[at] + right[at];
        }
        write(id, now.to, fold);
        break;
      }
      case StepKind::publish:
        if (now.for_lenders && !boards_.may_be_awaited(id.rank)) break;
        note(boards_.publish(id.rank, id.step, now.mark));
        // Those who wait look again.
        for (const StepId waiting : std::exchange(waiting_, {})) events_.push_back({begin, waiting, 0});
        break;
      case StepKind::await:
        if (now.for_lenders && !boards_.lends(id.rank)) break;
        note(boards_.may_await(id.rank, now.peer, now.mark));
        if (boards_.await(id.rank, id.step, now.peer, now.mark)) break;
        waiting_.push_back(id);
        return;
    }
    end(id);
  }

  void start_copy(StepId id, const Step& now) {
    if (is_between_collectives(now)) return note(boards_.between(id.rank, id.step));
    if (now.to.count == 0) return;
    // Of what is lent, such a copy has nothing to do.
    if (boards_.is_lent(now.from) && now.from.owner == id.rank && place_of(now.from) == now.to.space) return;
    if (boards_.is_lent(now.to) && place_of(now.to) == now.from.space) return;
    write(id, now.to, read(id, now.from));
  }

  static Space place_of(const Slice& lent) { return lent.loan == Loan::input ? Space::input : Space::output; }

  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  std::vector<Value> read(StepId id, const Slice& slice) {
    if (slice.count == 0) return {};
    note(boards_.reads(id.rank, id.step, slice));
    if (!problem_.empty()) return std::vector<Value>(slice.count);
    const std::span<Value> values = at(id, slice);
    return {values.begin(), values.end()};
  }
  void write(StepId id, const Slice& slice, std::span<const Value> values) {
    if (slice.count == 0) return;
    note(boards_.writes(id.rank, id.step, slice));
    if (problem_.empty()) std::copy(values.begin(), values.end(), at(id, slice).begin());
  }
  std::span<Value> at(StepId id, const Slice& slice) {
    if (!is_shared(slice.space)) return memories_[id.rank].at(slice);
    if (boards_.is_lent(slice))
      return memories_[slice.owner].at({place_of(slice), slice.lent_begin, slice.count});
    return boards_.at(slice);
  }

  std::size_t message_of(Lane& lane, std::size_t number) {
    if (number == lane.messages.size()) {
      lane.messages.push_back(messages_.size());
      messages_.emplace_back();
    }
    return lane.messages[number];
  }

  void start_send(StepId id, const Step& now) {
    Lane& lane = lanes_[{id.rank, now.peer}];
    const std::size_t index = message_of(lane, lane.sent++);
    Message& message = messages_[index];
    message.sender = id;
    message.buffered = sends_ == Sends::buffered || (sends_ == Sends::mixed && random_() % 2 == 0);
    if (message.buffered)
      events_.push_back({capture, {}, index});
    else if (message.receiver.step != no_step)
      events_.push_back({deliver, {}, index});
    compare_counts(message);
  }

  void start_receive(StepId id, const Step& now) {
    Lane& lane = lanes_[{now.peer, id.rank}];
    const std::size_t index = message_of(lane, lane.received++);
    Message& message = messages_[index];
    message.receiver = id;
    if (message.sender.step != no_step && (!message.buffered || message.captured))
      events_.push_back({deliver, {}, index});
    compare_counts(message);
  }

  void compare_counts(const Message& message) {
    if (message.sender.step == no_step || message.receiver.step == no_step) return;
    if (step(message.sender).from.count != step(message.receiver).to.count)
      problem_ = "ranks " + std::to_string(message.sender.rank) + " and " +
                 std::to_string(message.receiver.rank) + " disagree on the size of a message";
  }

  void end(StepId id) {
    --unfinished_[id.rank];
    const Step& over = step(id);
    const auto first = schedules_[id.rank].successors.begin() + over.first_successor;
    for (std::uint32_t i = 0; i < over.successor_count; ++i) {
      boards_.order(id.rank, id.step, first[i]);
      unblock({id.rank, first[i]});
    }
  }

  void unblock(StepId id) {
    if (--counters_[id.rank][id.step] == 0) events_.push_back({begin, id, 0});
  }

  std::string deadlock() const {
    std::ostringstream text;
    text << unfinished() << " steps never end; " << waiting_.size()
         << " wait for marks; unmatched messages of";
    for (const auto& [ends, lane] : lanes_)
      if (lane.sent != lane.received) text << " " << ends.first << "->" << ends.second;
    return text.str();
  }

  const Group& group_;
  const std::vector<Schedule>& schedules_;
  Sends sends_;
  std::mt19937 random_;
  Boards boards_;
  std::vector<StepId> waiting_;  // for marks
  std::vector<Memory> memories_;
  std::vector<std::vector<std::uint32_t>> counters_;
  std::vector<Event> events_;
  std::vector<Message> messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes_;
  std::vector<std::size_t> unfinished_;  // steps of each rank
  std::string problem_;
};

}  // namespace

std::string simulate(const Group& group, const std::vector<Schedule>& schedules, Sends sends,
                     std::uint32_t seed) {
  return Machine(group, schedules, sends, seed).run();
}

std::string simulate_late(const Group& group, const std::vector<Schedule>& schedules, std::uint32_t late) {
  return Machine(group, schedules, Sends::buffered, late).run_without(late);
}

}  // namespace parley::schedule
