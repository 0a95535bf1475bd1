#include "api/wireup/links.h"

#include <parley/error.h>

#include <algorithm>

#include "api/wireup/card_desk.h"
#include "api/wireup/lookout.h"
#include "api/wireup/rank_claim.h"
#include "api/wireup/suspects.h"
#include "transport/base/log.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/inproc/inproc_transport.h"

namespace parley::wireup {

using transport::Messenger;
using transport::PeerState;

namespace {

// All listen by then; but many may dial one rank at once, and it may be busy: then it is dialled again. A
// host of which nothing was seen for so long is lost.
constexpr auto dial_patience = std::chrono::seconds(6);

// A rank that was linked, did its work and left in good order while others are still linking is not lost.
bool is_lost(const transport::Peer& peer) noexcept {
  return peer.state == PeerState::down && peer.reason.code() != base::Code::peer_left;
}

bool is_expected(const transport::Peer& peer) noexcept {
  return peer.state == PeerState::expected;
}

std::vector<int> ranks_that(transport::Engine& engine, int size,
                            bool (*is)(const transport::Peer&) noexcept) {
  return engine.inspect([&](const Messenger& messenger) {
    std::vector<int> ranks;
    for (int rank = 0; rank < size; ++rank)
      if (is(messenger.peer(static_cast<std::uint32_t>(rank)))) ranks.push_back(rank);
    return ranks;
  });
}

// A dial that comes to nothing goes on by the next way.
void fall_back(Messenger& messenger, Ladder& ladder) {
  messenger.set_other_way(
      [&ladder](transport::PeerId peer, std::string_view why) { return ladder.try_next(peer, why); });
}

constexpr std::chrono::milliseconds report_grace{200};
// Reasons are long, and mostly the same.
constexpr std::size_t most_reasons = 4;

// Whose failure it is that there is no link to the rank: its own, unless its goodbye named another.
int culprit_of(const World& world, int rank) {
  return world.engine->inspect([&](const Messenger& messenger) {
    return static_cast<int>(messenger.peer(static_cast<std::uint32_t>(rank)).culprit);
  });
}

// Why there is no link to the rank.
std::string reason_of(const World& world, int rank) {
  if (const int culprit = culprit_of(world, rank); culprit != rank && culprit != world.rank)
    return "it left because of " + world.name_of(culprit);
  std::string reason = world.engine->inspect([&](const Messenger& messenger) {
    const auto number = static_cast<std::uint32_t>(rank);
    const std::string& unreachable = messenger.peer(number).unreachable;
    const base::Status status = messenger.peer(number).reason;
    return unreachable.empty() && status.failed() ? status.describe() : unreachable;
  });
  // A higher rank dials us, and only it knows what came of it.
  if (reason.empty() && rank > world.rank)
    reason = "it dials " + world.roster->card(world.rank).value().tcp_address +
             ", and its own error says what came of that";
  return reason;
}

[[noreturn]] void fail(World& world, const std::vector<int>& missing, std::string_view why) {
  std::string names;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    names += (i == 0 ? "" : ", ") + world.name_of(missing[i]);
    const std::string reason = i < most_reasons ? reason_of(world, missing[i]) : "";
    if (!reason.empty()) names += ": " + reason;
  }
  ErrorDetails details;
  details.rank = world.rank;
  details.peer = missing.front();
  details.culprit = culprit_of(world, missing.front());
  details.operation = "init";
  throw InitError(base::concat("rank ", world.rank, " could not link to all ranks: ", why, " ", names),
                  details);
}

}  // namespace

namespace {

// Errors name the process of a rank to which there is a link, also if it has dialled us.
void get_to_know(World& world, transport::Peer& peer) try {
  const int rank = static_cast<int>(peer.number);
  if (world.card_desk == nullptr || rank == world.rank) return;
  if (world.roster->pid_of(rank) == 0) world.card_desk->want(rank);
  peer.title = world.name_of(rank);
} catch (const std::exception&) {  // no memory, or no thread: its number will do
}

// Null: the two ends of the link do not see at once which offers stand, and device memory goes by the link.
// On a device that two ranks share the lower one makes the copies.
transport::DeviceMover* make_device_mover(World& world, transport::PeerId peer,
                                          transport::Endpoint& endpoint) try {
  using transport::cuda_ipc::IpcMover;
  const auto self = static_cast<transport::PeerId>(world.rank);
  if (world.device_wish == DeviceWish::staged || endpoint.ledger == nullptr) return nullptr;
  world.device_movers.push_back(std::make_unique<IpcMover>(
      world.devices, *endpoint.ledger, self < peer ? IpcMover::Copies::by_us : IpcMover::Copies::by_peer));
  return world.device_movers.back().get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

void link_to_self(World& world) {
  world.device_wish = chosen_device_path();
  world.self_hub = std::make_unique<transport::InprocHub>();
  const auto self = static_cast<transport::PeerId>(world.rank);
  auto& transport = world.engine->add(
      std::make_unique<transport::InprocTransport>(*world.self_hub, self, &world.engine->reactor()));
  world.engine->locked([&](Messenger& messenger) {
    messenger.set_mover(self, world.self_mover);
    messenger.set_device_movers([&world, &messenger](transport::PeerId peer, transport::Endpoint& endpoint) {
      get_to_know(world, messenger.peer(peer));
      return make_device_mover(world, peer, endpoint);
    });
    transport.connect(self, transport.address(), base::Deadline::never());
  });
}

namespace {

// While links are made: after this time there is a look for ranks that come no more, and after twice the time
// again, up to the reminder's period.
constexpr std::chrono::nanoseconds first_look = std::chrono::seconds(1);
// The look after one that has found somebody: by then all that a rank had sent when it ended was read.
constexpr std::chrono::nanoseconds second_look = std::chrono::milliseconds(500);

// Who is met before we fail hears our goodbye; one whose link breaks off in the making would take us for
// dead.
constexpr std::chrono::seconds farewell_grace{1};

// What is known to come no more counts as dead from here on; those who are linked to us already hear so when
// we leave.
void give_up_absentees(World& world, const std::vector<int>& missing, Suspects& suspects) {
  const auto store = world.store.get();
  const auto absentees = suspects.confirm(find_absentees(store.get(), *world.roster, missing));
  if (absentees.empty()) return;
  world.engine->locked([&](Messenger& messenger) {
    messenger.set_other_way(nullptr);
    for (const auto& [rank, why] : absentees)
      messenger.on_unreachable(static_cast<transport::PeerId>(rank), base::Code::peer_died, why);
  });
}

}  // namespace

void link_to_all(World& world, base::Deadline deadline) {
  transport::Engine& engine = *world.engine;
  engine.locked([&](Messenger& messenger) {
    fall_back(messenger, world.ladder);
    for (int lower = 0; lower < world.rank; ++lower)
      world.ladder.dial(static_cast<transport::PeerId>(lower), world.roster->card(lower).value(), deadline);
  });
  const auto some = [&](const Messenger& messenger, bool (*is)(const transport::Peer&) noexcept) {
    for (int rank = 0; rank < world.size; ++rank)
      if (is(messenger.peer(static_cast<std::uint32_t>(rank)))) return true;
    return false;
  };
  const auto has_met_all = [&](const Messenger& messenger) { return !some(messenger, is_expected); };
  const auto settled = [&](const Messenger& messenger) {
    return has_met_all(messenger) || some(messenger, is_lost);
  };
  // A dial reports at the deadline why it failed, which may be a moment later.
  const auto latest = deadline.is_never() ? deadline : base::Deadline::at(deadline.when() + report_grace);
  auto next_reminder = base::Deadline::after(reminder_period);
  auto look = first_look;
  auto next_look = base::Deadline::after(look);
  Suspects suspects;
  while (!engine.wait_until(settled, earliest(latest, earliest(next_look, next_reminder)).remaining())) {
    const auto missing = ranks_that(engine, world.size, is_expected);
    if (latest.expired()) fail(world, missing, "timed out waiting for");
    if (next_look.expired()) {
      give_up_absentees(world, missing, suspects);
      look = std::min<std::chrono::nanoseconds>(2 * look, reminder_period);
      next_look = base::Deadline::after(suspects.has_any() ? second_look : look);
    }
    if (!next_reminder.expired()) continue;
    next_reminder = base::Deadline::after(reminder_period);
    for (const int rank : missing)
      PARLEY_LOG(warn, "init", "still waiting for the link to ", world.name_of(rank));
  }
  if (const auto lost = ranks_that(engine, world.size, is_lost); !lost.empty()) {
    engine.wait_until(has_met_all, farewell_grace);
    fail(world, lost, "lost or refused by");
  }
  engine.locked([&](Messenger&) { world.ladder.stop_accepting(); });
}

namespace {

// Dials a rank whose card is known; else that is read first.
void dial_or_ask(World& world, Messenger& messenger, transport::PeerId number) {
  const int rank = static_cast<int>(number);
  if (const auto card = world.roster->card(rank))
    return world.ladder.dial(number, *card, base::Deadline::after(dial_patience));
  world.card_desk->want(rank);
  messenger.await_address(number);
}

// The cards of these ranks were read, or cannot be.
void take_cards(World& world, std::span<const int> ranks, const std::string& why) {
  world.engine->locked_aside([&](Messenger& messenger) {
    for (const int rank : ranks) {
      const auto number = static_cast<transport::PeerId>(rank);
      messenger.peer(number).title = world.name_of(rank);
      if (why.empty())
        messenger.take_address(number);
      else
        messenger.lack_address(number, why);
    }
  });
}

}  // namespace

void link_on_demand(World& world) {
  world.on_demand = true;
  world.card_desk = std::make_unique<CardDesk>(
      world.store.get(), world.cards_prefix, world.roster,
      [&world](std::span<const int> ranks, const std::string& why) { take_cards(world, ranks, why); });
  world.engine->locked([&](Messenger& messenger) {
    fall_back(messenger, world.ladder);
    messenger.connect_on_demand(
        [&world, &messenger](transport::PeerId peer) { dial_or_ask(world, messenger, peer); });
  });
  world.lookout = std::make_unique<Lookout>(world);
}

}  // namespace parley::wireup
