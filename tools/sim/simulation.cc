#include "tools/sim/simulation.h"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/sim/lanes.h"
#include "tools/sim/marks.h"
#include "tools/sim/ports.h"

namespace parley::sim {
namespace {

using schedule::no_step;
using Kind = Program::Kind;

// A first-in-first-out list of steps or messages, linked by numbers.
struct Line {
  std::uint32_t head = no_step;
  std::uint32_t tail = no_step;

  [[nodiscard]] bool is_empty() const noexcept { return head == no_step; }
};

template <typename Links>
void push(Line& line, std::uint32_t number, Links links) {
  links(number) = no_step;
  if (line.is_empty())
    line.head = number;
  else
    links(line.tail) = number;
  line.tail = number;
}

template <typename Links>
std::uint32_t pop(Line& line, Links links) {
  const std::uint32_t number = line.head;
  line.head = links(number);
  return number;
}

class Simulation {
 public:
  Simulation(const Network& network, const Model& model, const Cast& cast, std::span<const Program> programs,
             double mark_ns, std::span<const float> slowdown)
      : lanes_(network, cast, programs),
        ports_(network, model, cast.actors(), slowdown),
        marks_(mark_ns, model.seen_mark_ns, cast.actors()),
        actors_(cast.actors()),
        receives_(lanes_.receive_count()) {
    std::size_t steps = 0;
    for (std::uint32_t actor = 0; actor < cast.actors(); ++actor) {
      actors_[actor].program = &programs[cast.model_of(actor)];
      actors_[actor].first = steps;
      steps += actors_[actor].program->steps.size();
    }
    blockers_.reserve(steps);
    for (const Actor& actor : actors_)
      for (const Program::Step& step : actor.program->steps) blockers_.push_back(step.blockers);
    links_.resize(steps);
    left_ = steps;
  }

  double run() {
    for (std::uint32_t actor = 0; actor < actors_.size(); ++actor)
      for (std::uint32_t step = 0; step < actors_[actor].program->steps.size(); ++step)
        if (actors_[actor].program->steps[step].blockers == 0) ready_.emplace_back(actor, step);
    begin_ready();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      finish(event.actor, event.step);
      begin_ready();
    }
    if (left_ > 0) throw std::logic_error("the schedules do not come to an end");
    return now_;
  }

 private:
  struct Actor {
    const Program* program = nullptr;
    std::size_t first = 0;  // of its steps, among all
    Line sends, locals;     // that wait for the port, the core
    bool is_sending = false, is_working = false;
  };
  // The receives that wait for a message, or messages that wait for a receive; never both.
  struct Receives {
    Line waiting;
    bool are_messages = false;
  };
  struct Message {
    double arrived = 0;
    std::uint32_t next = no_step;
  };
  // The end of a step.
  struct Event {
    double time;
    std::uint32_t actor;
    std::uint32_t step;
    bool operator>(const Event& other) const noexcept {
      if (time != other.time) return time > other.time;
      return actor != other.actor ? actor > other.actor : step > other.step;
    }
  };

  void push_end(double time, std::uint32_t actor, std::uint32_t step) { events_.push({time, actor, step}); }
  auto links_of(std::uint32_t actor) {
    return [this, first = actors_[actor].first](std::uint32_t step) -> std::uint32_t& {
      return links_[first + step];
    };
  }
  auto message_links() {
    return [this](std::uint32_t message) -> std::uint32_t& { return messages_[message].next; };
  }

  // Steps that become ready meanwhile begin, too.
  void begin_ready() {
    for (std::size_t i = 0; i < ready_.size(); ++i) begin(ready_[i].first, ready_[i].second);
    ready_.clear();
  }

  void unblock(std::uint32_t actor, std::uint32_t step) {
    if (--blockers_[actors_[actor].first + step] == 0) ready_.emplace_back(actor, step);
  }

  void begin(std::uint32_t actor, std::uint32_t step) {
    Actor& one = actors_[actor];
    const Program::Step& what = one.program->steps[step];
    if (what.next_in_lane != no_step) unblock(actor, what.next_in_lane);
    switch (what.kind) {
      case Kind::send:
        push(one.sends, step, links_of(actor));
        if (!one.is_sending) send_next(actor);
        break;
      case Kind::local:
        push(one.locals, step, links_of(actor));
        if (!one.is_working) work_next(actor);
        break;
      case Kind::receive: receive(actor, step, receives_[lanes_.receive(actor, what.with)]); break;
      case Kind::publish:
        for (const Marks::End& end : marks_.publish(now_, actor, static_cast<std::int32_t>(what.amount)))
          push_end(end.time, end.actor, end.step);
        push_end(now_, actor, step);
        break;
      case Kind::await:
        if (const auto end =
                marks_.await(now_, actor, step, what.with, static_cast<std::int32_t>(what.amount)))
          push_end(*end, actor, step);
        break;
    }
  }

  void finish(std::uint32_t actor, std::uint32_t step) {
    Actor& one = actors_[actor];
    const Program::Step& what = one.program->steps[step];
    --left_;
    for (std::uint32_t i = what.first_successor; i < what.last_successor; ++i)
      unblock(actor, one.program->successors[i]);
    if (what.kind == Kind::send) {
      one.is_sending = false;
      if (!one.sends.is_empty()) send_next(actor);
    } else if (what.kind == Kind::local) {
      one.is_working = false;
      if (!one.locals.is_empty()) work_next(actor);
    }
  }

  void send_next(std::uint32_t actor) {
    Actor& one = actors_[actor];
    const std::uint32_t step = pop(one.sends, links_of(actor));
    const Program::Step& what = one.program->steps[step];
    const Route& route = lanes_.send(actor, what.with);
    const Ports::Times times =
        ports_.pass(now_, actor, route.to, route.way, static_cast<std::uint64_t>(what.amount));
    one.is_sending = true;
    push_end(times.sent, actor, step);
    arrive(route, times.arrived);
  }

  void work_next(std::uint32_t actor) {
    Actor& one = actors_[actor];
    const std::uint32_t step = pop(one.locals, links_of(actor));
    one.is_working = true;
    push_end(now_ + one.program->steps[step].amount * ports_.slowdown(actor), actor, step);
  }

  void arrive(const Route& route, double time) {
    Receives& receives = receives_[route.lane];
    if (!receives.waiting.is_empty() && !receives.are_messages) {
      push_end(time, route.to, pop(receives.waiting, links_of(route.to)));
      return;
    }
    receives.are_messages = true;
    std::uint32_t number = free_message_;
    if (number == no_step) {
      number = static_cast<std::uint32_t>(messages_.size());
      messages_.emplace_back();
    } else {
      free_message_ = messages_[number].next;
    }
    messages_[number].arrived = time;
    push(receives.waiting, number, message_links());
  }

  void receive(std::uint32_t actor, std::uint32_t step, Receives& receives) {
    if (receives.waiting.is_empty() || !receives.are_messages) {
      receives.are_messages = false;
      push(receives.waiting, step, links_of(actor));
      return;
    }
    const std::uint32_t number = pop(receives.waiting, message_links());
    push_end(std::max(now_, messages_[number].arrived), actor, step);
    messages_[number].next = free_message_;
    free_message_ = number;
  }

  Lanes lanes_;
  Ports ports_;
  Marks marks_;
  std::vector<Actor> actors_;
  std::vector<Receives> receives_;       // by lane
  std::vector<std::uint32_t> blockers_;  // by step, of all actors
  std::vector<std::uint32_t> links_;     // the same
  std::vector<Message> messages_;
  std::uint32_t free_message_ = no_step;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ready_;  // actor, step
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0;
  std::size_t left_ = 0;
};

}  // namespace

double simulate(const Network& network, const Model& model, const Cast& cast,
                std::span<const Program> programs, double mark_ns, std::span<const float> slowdown) {
  return Simulation(network, model, cast, programs, mark_ns, slowdown).run();
}

}  // namespace parley::sim
