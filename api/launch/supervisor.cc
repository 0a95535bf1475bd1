#include "api/launch/supervisor.h"

#include <parley/error.h>
#include <parley/store.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "api/launch/child_process.h"
#include "api/launch/guardian.h"
#include "api/launch/job_end.h"
#include "api/launch/node_end.h"
#include "api/launch/node_link.h"
#include "api/launch/poll_set.h"
#include "api/launch/report.h"
#include "api/launch/signal_source.h"
#include "transport/base/deadline.h"
#include "transport/socket/secret.h"

namespace parley::launch {
namespace {

using base::Deadline;

constexpr const char* loopback = "127.0.0.1";
constexpr std::size_t reported_lines = 20;
// How often to look for ended ranks on a kernel that cannot tell (no pidfd).
constexpr std::chrono::milliseconds reap_interval{10};
constexpr auto crash_delay = std::chrono::milliseconds(50);
// How long the last output of a job that was ended may take to leave.
constexpr std::chrono::seconds last_flush{5};
// How long node 0 serves the store for the other nodes' launchers, who hear of the end within a moment.
constexpr std::chrono::seconds farewell{5};

class Supervisor {
 public:
  Supervisor(const Job& job, const RankBody& body) : job_(job), body_(body), output_(job.output) {}
  ~Supervisor() { end_everything(); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  int run();

 private:
  enum class Phase {
    gathering,  // the ranks exist and wait until the launchers of all nodes have come; one host skips this
    running,    // the ranks work; the first failure, the timeout or a signal ends this
    ending,     // every rank was asked to end and has until grace_over_
    killing,    // every rank was killed; the kernel needs a moment
  };

  void fork_ranks(const std::function<int(int)>& body);
  void serve_store();
  void gather_nodes();
  void begin_ranks();
  void execute_rank(const Reexecution& what, int rank, const Environment& environment);
  [[nodiscard]] ChildPlace place_of(int rank) const;
  void add_child(ChildProcess child);
  void step();
  void await_other_nodes();
  void handle_signals();
  std::vector<int> reap_ranks();
  void note_failures(std::vector<int> failed);
  void check_deadlines();
  [[nodiscard]] Deadline next_deadline() const;
  void end_job(Cause cause, int signal_number);
  void end_with_others();
  void kill_job();
  void send_to_ranks(int signal_number, bool from_terminal);
  void finish();
  void flush();
  void end_everything() noexcept;

  const Job& job_;
  const RankBody& body_;
  JobOutput output_;
  std::optional<Guardian> guardian_;
  std::vector<ChildProcess> children_;
  std::optional<TcpStoreServer> server_;
  std::string secret_;
  std::optional<NodeLink> link_;
  NodeLayout layout_;
  PollSet poll_;

  // On a terminal rank 0 stays in the launcher's process group: only the foreground group may read.
  bool has_rank0_ = !job_.nodes || job_.nodes->number == 0;
  bool rank0_in_foreground_ = has_rank0_ && isatty(STDIN_FILENO) == 1;
  Phase phase_ = Phase::running;
  std::size_t alive_ = 0;
  base::Clock::time_point started_;
  Deadline timeout_ = Deadline::never();
  Deadline grace_over_ = Deadline::never();
  int last_signal_ = 0;  // the last one sent to the ranks
  int interrupts_ = 0;   // how often Ctrl-C was pressed
  bool asked_to_end_ = false;
  JobEnd end_;
};

int Supervisor::run() {
  guardian_.emplace();
  if (const auto* body = std::get_if<std::function<int(int)>>(&body_)) fork_ranks(*body);
  serve_store();
  gather_nodes();
  begin_ranks();
  while (alive_ > 0) step();
  await_other_nodes();
  finish();
  return end_.exit_code();
}

void Supervisor::fork_ranks(const std::function<int(int)>& body) {
  // What stdio holds must not leave twice.
  std::cout.flush();
  std::fflush(nullptr);
  for (int rank = 0; rank < job_.ranks; ++rank) {
    ChildPlan plan;
    plan.place = place_of(rank);
    plan.body = [&body, rank] { return body(rank); };
    plan.forget_launcher = [this] {
      if (job_.signals != nullptr) job_.signals->restore_in_child();
      guardian_->forget_in_child();
      children_.clear();
    };
    add_child(ChildProcess::start(plan));
  }
}

ChildPlace Supervisor::place_of(int rank) const {
  const bool in_foreground = rank == 0 && rank0_in_foreground_;
  return {in_foreground ? 0 : guardian_->group(), rank == 0 && has_rank0_};
}

void Supervisor::add_child(ChildProcess child) {
  RankEnd end;
  end.pid = child.pid();
  end_.ranks.push_back(end);
  children_.push_back(std::move(child));
  ++alive_;
}

// Only now may a process that has forked its ranks have a second thread: the store's.
void Supervisor::serve_store() {
  started_ = base::Clock::now();
  layout_ = {0, job_.ranks};
  // The ranks find the file's variable, too, and it wins over what the launcher makes.
  secret_ = job_.nodes ? job_.nodes->secret : socket::secret_of_file().value_or(socket::make_secret());
  if (!has_rank0_) return;
  TcpStoreOptions options;
  options.host = job_.nodes ? job_.nodes->host : loopback;
  options.port = job_.nodes ? job_.nodes->port : std::uint16_t{0};
  options.secret = secret_;
  server_.emplace(options);
}

// Waits for the launchers of the other nodes, while the ranks wait for us.
void Supervisor::gather_nodes() {
  if (!job_.nodes) return;
  phase_ = Phase::gathering;
  link_.emplace(*job_.nodes, job_.ranks);
  end_.where = link_->own_name();
  while (phase_ == Phase::gathering) {
    poll_.clear();
    poll_.add(link_->fd(), POLLIN);
    if (job_.signals != nullptr) poll_.add(job_.signals->fd(), POLLIN);
    poll_.wait(Deadline::never());
    link_->take_news();
    if (const std::string failure = link_->failure(); !failure.empty()) throw InitError(failure);
    if (const auto layout = link_->layout()) {
      layout_ = *layout;
      phase_ = Phase::running;
    }
    handle_signals();
    if (phase_ == Phase::gathering && link_->outcome()) end_with_others();
  }
  end_.first_rank = layout_.first_rank;
}

// Tells the ranks who they are, upon which they begin; or nothing, when the job has ended before.
void Supervisor::begin_ranks() {
  output_.number_from(layout_.first_rank);
  for (ChildProcess& child : children_) output_.add_rank(child.take_output(), child.take_errors());
  if (phase_ != Phase::running) return kill_job();
  const Rendezvous rendezvous{job_.nodes ? job_.nodes->host : loopback,
                              job_.nodes ? job_.nodes->port : server_->port(), secret_};
  started_ = base::Clock::now();
  timeout_ = Deadline::after(job_.timeout);
  for (int rank = 0; rank < job_.ranks; ++rank) {
    // By their place on this host; then the numbers in the whole job.
    Environment environment = rank_environment(rank, job_.ranks, rendezvous, job_.environment);
    environment["RANK"] = std::to_string(layout_.first_rank + rank);
    environment["WORLD_SIZE"] = std::to_string(layout_.world_size);
    if (const auto* program = std::get_if<Reexecution>(&body_))
      execute_rank(*program, rank, environment);
    else
      children_[static_cast<std::size_t>(rank)].begin(environment);
  }
  // A rank elsewhere may have failed already: the news of it was taken together with that of the layout.
  if (link_ && link_->outcome()) end_with_others();
}

void Supervisor::execute_rank(const Reexecution& what, int rank, const Environment& environment) {
  ExecutionPlan plan{place_of(rank), what.program, environment, what.order};
  plan.order.rank = rank;
  add_child(ChildProcess::execute(std::move(plan)));
  output_.add_rank(children_.back().take_output(), children_.back().take_errors());
}

void Supervisor::step() {
  poll_.clear();
  if (job_.signals != nullptr) poll_.add(job_.signals->fd(), POLLIN);
  for (const ChildProcess& child : children_) {
    if (child.end_fd() >= 0) poll_.add(child.end_fd(), POLLIN);
  }
  if (link_) poll_.add(link_->fd(), POLLIN);
  output_.watch(poll_);
  poll_.wait(next_deadline());
  output_.serve(poll_);
  if (link_) link_->take_news();
  const std::vector<int> failed = reap_ranks();
  // In this order: the interrupt key of a terminal reaches the launcher before rank 0 can be seen to die of
  // it.
  handle_signals();
  if (link_ && link_->outcome() && phase_ == Phase::running) end_with_others();
  if (!failed.empty() && phase_ == Phase::running) note_failures(failed);
  check_deadlines();
}

// The ranks of this node have ended. If they have ended well, the job goes on elsewhere.
void Supervisor::await_other_nodes() {
  if (!link_ || phase_ != Phase::running) return;
  link_->report_done();
  while (phase_ == Phase::running && !link_->outcome()) step();
  if (phase_ == Phase::running) end_with_others();
}

void Supervisor::handle_signals() {
  if (job_.signals == nullptr) return;
  while (const auto signal = job_.signals->next()) {
    asked_to_end_ = true;
    if (signal->number == SIGINT) ++interrupts_;
    if (phase_ == Phase::running || phase_ == Phase::gathering) {
      end_.interrupt = signal->number;
      end_job(Cause::interrupted, 0);
      send_to_ranks(signal->number, signal->from_terminal);
    } else if (interrupts_ > 1) {
      kill_job();
    } else {
      send_to_ranks(signal->number, signal->from_terminal);
    }
  }
}

// Returns the ranks that have failed since the last call.
std::vector<int> Supervisor::reap_ranks() {
  std::vector<int> failed;
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    const std::optional<ExitStatus> status = children_[rank].try_reap();
    if (!status) continue;
    --alive_;
    end_.ranks[rank].status = *status;
    end_.ranks[rank].launcher_signal = last_signal_;
    if (!status->ok()) failed.push_back(static_cast<int>(rank));
  }
  return failed;
}

// Names the culprit: a crash comes before the errors that it causes, then the lower rank. A process that
// crashes closes its connections before it can be seen to have ended, so those who fail because of it may be
// seen first: a failure without a crash waits a moment for one.
void Supervisor::note_failures(std::vector<int> failed) {
  const Deadline moment = Deadline::after(crash_delay);
  while (!end_.crashed_among(failed) && alive_ > 0 && !moment.expired() && !(link_ && link_->outcome())) {
    poll_.clear();
    if (link_) poll_.add(link_->fd(), POLLIN);
    for (const ChildProcess& child : children_) {
      if (child.end_fd() >= 0) poll_.add(child.end_fd(), POLLIN);
    }
    poll_.wait(earliest(moment, Deadline::after(reap_interval)));
    const std::vector<int> more = reap_ranks();
    failed.insert(failed.end(), more.begin(), more.end());
  }
  end_.culprit = end_.crashed_among(failed).value_or(failed.front());
  end_job(Cause::rank_failed, SIGTERM);
}

void Supervisor::check_deadlines() {
  if (alive_ == 0) return;
  if (phase_ == Phase::running && timeout_.expired()) {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      if (!children_[rank].ended()) end_.late.push_back(static_cast<int>(rank));
    }
    end_job(Cause::timed_out, SIGTERM);
  } else if (phase_ == Phase::ending && grace_over_.expired()) {
    kill_job();
  }
}

Deadline Supervisor::next_deadline() const {
  Deadline deadline = Deadline::never();
  if (phase_ == Phase::running && alive_ > 0) deadline = timeout_;
  if (phase_ == Phase::ending) deadline = grace_over_;
  const bool must_look = std::any_of(children_.begin(), children_.end(), [](const ChildProcess& child) {
    return !child.ended() && child.end_fd() < 0;
  });
  return must_look ? earliest(deadline, Deadline::after(reap_interval)) : deadline;
}

// Unless another node has ended the job before: then its reason stands, here too.
void Supervisor::end_job(Cause cause, int signal_number) {
  end_.cause = cause;
  end_.elapsed = base::Clock::now() - started_;
  phase_ = Phase::ending;
  grace_over_ = Deadline::after(job_.grace);
  if (link_) {
    const NodeOutcome own =
        outcome_of(end_, job_.nodes->number, first_sentence(end_, {job_.reporter, job_.program, {}}));
    const NodeOutcome standing = link_->propose(own);
    if (!(standing == own)) adopt(end_, standing);
  }
  if (signal_number != 0) send_to_ranks(signal_number, false);
}

// Another node has ended the job.
void Supervisor::end_with_others() {
  adopt(end_, *link_->outcome());
  end_.elapsed = base::Clock::now() - started_;
  phase_ = Phase::ending;
  grace_over_ = Deadline::after(job_.grace);
  if (alive_ > 0) send_to_ranks(end_.cause == Cause::interrupted ? end_.interrupt : SIGTERM, false);
}

void Supervisor::kill_job() {
  phase_ = Phase::killing;
  send_to_ranks(SIGKILL, false);
  guardian_->kill_group();
}

void Supervisor::send_to_ranks(int signal_number, bool from_terminal) {
  last_signal_ = signal_number;
  // The group also holds the ranks' own children; the guardian in it cannot be reached by anything but
  // SIGKILL.
  if (signal_number != SIGKILL) guardian_->signal_group(signal_number);
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    const bool outside_group = rank == 0 && rank0_in_foreground_;
    const bool has_it = from_terminal && outside_group;  // the terminal sends to all of its foreground group
    if (signal_number == SIGKILL || (outside_group && !has_it)) children_[rank].send_signal(signal_number);
  }
}

void Supervisor::finish() {
  guardian_->kill_group();
  output_.drain();
  ReportContext context{job_.reporter, job_.program, {}};
  if (end_.culprit >= 0) context.last_errors = output_.last_error_lines(end_.culprit, reported_lines);
  output_.say(report(end_, context));
  output_.say(output_.log_complaints());
  flush();
  link_.reset();
  if (job_.nodes && server_) server_->wait_for_no_clients(farewell);
  server_.reset();
}

// A slow reader gets all the time it wants, except from somebody who has asked for the end.
void Supervisor::flush() {
  const bool in_a_hurry = asked_to_end_ || end_.cause == Cause::timed_out;
  Deadline deadline = in_a_hurry ? Deadline::after(last_flush) : Deadline::never();
  while (!output_.flushed() && !deadline.expired()) {
    poll_.clear();
    if (job_.signals != nullptr) poll_.add(job_.signals->fd(), POLLIN);
    output_.watch(poll_);
    poll_.wait(deadline);
    output_.serve(poll_);
    if (job_.signals != nullptr && job_.signals->next()) return;
  }
}

// After an exception in the middle: leaves nothing behind.
void Supervisor::end_everything() noexcept {
  for (ChildProcess& child : children_) {
    child.send_signal(SIGKILL);
    child.reap();
  }
}

}  // namespace

int run_job(const Job& job, const RankBody& body) {
  if (job.ranks < 1) throw UsageError("a job needs at least 1 rank, not " + std::to_string(job.ranks));
  require_exit_statuses();
  return Supervisor(job, body).run();
}

}  // namespace parley::launch
