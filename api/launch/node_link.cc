#include "api/launch/node_link.h"

#include <parley/error.h>
#include <parley/store.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "api/launch/pipe.h"
#include "api/wireup/reachability.h"
#include "transport/base/host.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::launch {
namespace {

using base::concat;

// A connection is tried for so long before the thread looks whether it is still wanted.
constexpr std::chrono::seconds connect_slice{5};
constexpr std::chrono::seconds reminder_period{10};
// How long node 0 may take to answer while it lives.
constexpr std::chrono::seconds proposal_limit{3};

constexpr const char* outcome_key = "parley-run/outcome";
constexpr const char* done_key = "parley-run/done";

std::string card_key(int node) {
  return concat("parley-run/card/", node);
}

std::string beat_key(int node) {
  return concat("parley-run/alive/", node);
}

template <typename Key>
std::vector<std::string> keys_of_all(int nodes, const Key& key) {
  std::vector<std::string> keys;
  for (int node = 0; node < nodes; ++node) keys.push_back(key(node));
  return keys;
}

NodeOutcome lost(int node, const NodeCard& card, const std::string& why) {
  return {.kind = NodeOutcome::Kind::failed,
          .node = node,
          .where = card.name(node),
          .sentence = "its launcher is gone: " + why,
          .exit_code = 1};
}

}  // namespace

NodeLink::NodeLink(const NodePlace& place, int ranks)
    : place_(place),
      own_{.nodes = place.count, .ranks = ranks, .host = base::host_name(), .pid = getpid()},
      own_name_(own_.name(place.number)),
      gathered_by_(base::Deadline::after(place.patience)),
      news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!news_) throw_system_error("no eventfd");
  thread_ = base::start_own_thread("nodes", [this] { run(); });
}

NodeLink::~NodeLink() {
  stopping_ = true;
  thread_.join();
}

void NodeLink::take_news() noexcept {
  eventfd_t ignored = 0;
  static_cast<void>(eventfd_read(news_.get(), &ignored));
}

void NodeLink::announce() noexcept {
  static_cast<void>(eventfd_write(news_.get(), 1));
}

std::optional<NodeLayout> NodeLink::layout() const {
  const std::lock_guard lock(mutex_);
  return layout_;
}

std::optional<NodeOutcome> NodeLink::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

std::string NodeLink::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::shared_ptr<Store> NodeLink::store() const {
  const std::lock_guard lock(mutex_);
  return store_;
}

// The first one stands.
void NodeLink::decide(const NodeOutcome& outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (outcome_) return;
    outcome_ = outcome;
  }
  announce();
}

NodeOutcome NodeLink::propose(const NodeOutcome& proposal) {
  if (const auto decided = outcome()) return *decided;
  NodeOutcome standing = proposal;
  try {
    // Before this node has joined the others there is nobody to tell.
    if (const auto store = this->store())
      standing = decode_node_outcome(store->compare_set(outcome_key, {}, encode(proposal), proposal_limit))
                     .value_or(proposal);
  } catch (const StoreError& error) {
    PARLEY_LOG(info, "init", "the other nodes could not be told: ", error.what());
  }
  decide(standing);
  return outcome().value_or(standing);
}

void NodeLink::report_done() {
  const auto store = this->store();
  if (store == nullptr) return;  // the job is decided
  try {
    if (store->add(done_key, 1, proposal_limit) == place_.count)
      propose({.kind = NodeOutcome::Kind::all_done, .node = place_.number, .where = own_name_});
  } catch (const StoreError& error) {
    decide(lost(0, cards_.front(), error.what()));
  }
}

void NodeLink::run() noexcept {
  std::string problem;
  try {
    connect();
    if (!stopping_) introduce();
    gather();
    watch();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  {
    // Nothing more is to be said, and node 0 waits until nobody listens any longer.
    const std::lock_guard lock(mutex_);
    store_.reset();
  }
  if (problem.empty()) return;
  if (layout()) return decide(lost(0, cards_.front(), problem));
  {
    const std::lock_guard lock(mutex_);
    failure_ = problem;
  }
  announce();
}

void NodeLink::connect() {
  TcpStoreOptions options;
  options.host = place_.host;
  options.port = place_.port;
  options.secret = place_.secret;
  while (!stopping_) {
    options.timeout = std::min<std::chrono::nanoseconds>(connect_slice, gathered_by_.remaining());
    try {
      const auto store = connect_tcp_store(options);
      const std::lock_guard lock(mutex_);
      store_ = store;
      return;
    } catch (const StoreTimeoutError& error) {
      if (gathered_by_.expired())
        throw InitError(concat("node ", place_.number,
                               " waited in vain for node 0, whose parley-run serves the ",
                               "store: ", error.what()));
      PARLEY_LOG(info, "init", "still trying: ", error.what());
    }
  }
}

void NodeLink::introduce() {
  const auto store = this->store();
  const auto card = encode(own_);
  store->add(beat_key(place_.number), 1, gathered_by_.remaining());
  const auto standing = store->compare_set(card_key(place_.number), {}, card, gathered_by_.remaining());
  if (standing == card) return;
  const auto other = decode_node_card(standing);
  throw InitError(concat("there are two launchers with --node-rank ", place_.number, ": this one and ",
                         other ? other->name(place_.number) : "one of another version",
                         "; give each its own, and start node 0 again after a failed start"));
}

std::string NodeLink::missing_nodes() const {
  std::string missing;
  for (int node = 0; node < place_.count; ++node) {
    const std::string key = card_key(node);
    if (!store_->check({&key, 1})) missing += (missing.empty() ? "" : ", ") + std::to_string(node);
  }
  return missing;
}

std::string NodeLink::advice() const {
  return place_.number == 0 ? wireup::advice_on_missing(place_.host, "--rendezvous") : "";
}

// Waits for the cards of all launchers and numbers the ranks.
void NodeLink::gather() {
  const auto keys = keys_of_all(place_.count, card_key);
  auto reminder = base::Deadline::after(reminder_period);
  for (bool complete = false; !complete && !stopping_;) {
    try {
      store_->wait(keys, std::min<std::chrono::nanoseconds>(beat_period, gathered_by_.remaining()));
      complete = true;
    } catch (const StoreTimeoutError&) {
      if (await_outcome(std::chrono::milliseconds(0))) return;
      if (gathered_by_.expired())
        throw InitError(concat("node ", place_.number, " waited in vain for the parley-run of node ",
                               missing_nodes(), " of ", place_.count, advice()));
      if (!reminder.expired()) continue;
      reminder = base::Deadline::after(reminder_period);
      PARLEY_LOG(warn, "init", "still waiting for the parley-run of node ", missing_nodes(), advice());
    }
  }
  if (stopping_) return;
  NodeLayout layout{0, 0};
  for (const auto& value : store_->multi_get(keys, gathered_by_.remaining())) {
    const int node = static_cast<int>(cards_.size());
    const auto card = decode_node_card(value);
    if (!card) throw InitError(concat("the parley-run of node ", node, " is of another version"));
    if (card->nodes != place_.count)
      throw InitError(concat(card->name(node), " was started with --nnodes ", card->nodes,
                             ", this node with ", place_.count));
    if (node == place_.number) layout.first_rank = layout.world_size;
    layout.world_size += card->ranks;
    cards_.push_back(*card);
  }
  {
    const std::lock_guard lock(mutex_);
    layout_ = layout;
  }
  announce();
}

// Says that we live, and waits for the outcome; node 0 looks whether the others live, too.
void NodeLink::watch() {
  while (!stopping_ && !outcome()) {
    store_->add(beat_key(place_.number), 1, silence_limit);
    if (place_.number == 0) look_for_silent_nodes();
    await_outcome(beat_period);
  }
}

bool NodeLink::await_outcome(std::chrono::nanoseconds patience) {
  const std::string key = outcome_key;
  try {
    store_->wait({&key, 1}, patience);
  } catch (const StoreTimeoutError&) {
    return false;
  }
  const auto outcome = decode_node_outcome(store_->get(key, silence_limit));
  if (!outcome) throw InitError("another node runs another version of parley-run");
  decide(*outcome);
  return true;
}

void NodeLink::look_for_silent_nodes() {
  const auto now = base::Clock::now();
  const auto beats = store_->multi_get(keys_of_all(place_.count, beat_key), silence_limit);
  for (int node = 1; node < place_.count; ++node) {
    const auto& value = beats[static_cast<std::size_t>(node)];
    const std::string text(reinterpret_cast<const char*>(value.data()), value.size());
    Life& life = lives_[node];
    if (text != life.beats) life = {text, now};
    if (now - life.changed < silence_limit) continue;
    propose(lost(node, cards_[static_cast<std::size_t>(node)],
                 concat("no sign of it for ", silence_limit.count(), " s")));
  }
}

}  // namespace parley::launch
