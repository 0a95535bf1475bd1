// Whether the peers that somebody waits for are alive.
//
// A peer of which nothing has come for `ping_after` is asked, and answers as soon as its process makes
// progress. No answer while its host acknowledges what we send: the process is stopped, or kept from its
// core; that is said, and may pass. Nothing acknowledged either: the host is gone, and with it the process.
// Only ranks that somebody waits for are asked, so that idle ranks cost nothing.
#include <cerrno>

#include "transport/base/log.h"
#include "transport/protocol/messenger.h"

namespace parley::transport {

using base::Code;
using base::Status;
using std::chrono::duration_cast;
using std::chrono::seconds;

namespace {

constexpr auto ping_after = std::chrono::milliseconds(500);
// An interruption of 3 s passes: TCP sends again after 0.2, 0.6, 1.4 and 3 s, and then not before 6.2 s.
constexpr auto longest_silence = std::chrono::milliseconds(4500);
// A longer pause between two looks was ours: we were stopped, or nobody has waited meanwhile.
constexpr auto longest_pause = seconds(1);

void note_sign_of_life(Peer& peer, std::chrono::steady_clock::time_point now) noexcept {
  Pulse& pulse = peer.pulse;
  if (peer.heard != pulse.heard) clear_of_suspicion(peer, now);
  pulse.suspected = false;
  pulse.heard = peer.heard;
  pulse.last_sign = now;
  pulse.ping_out = false;
}

}  // namespace

void Messenger::look_after_awaited(TimePoint now) noexcept {
  bool any_source_waits = std::exchange(any_source_is_probed_, false);
  for (Request* request = live_.front(); request != nullptr; request = live_.next(*request)) {
    if (now - request->started < ping_after) continue;
    if (request->peer != nullptr)
      request->peer->pulse.awaited = true;
    else
      any_source_waits = true;
  }
  for (Peer& peer : peers_) {
    const bool is_named = std::exchange(peer.pulse.awaited, false);
    const bool can_answer = peer.state == PeerState::up && peer.number != options_.self;
    if ((is_named || any_source_waits) && can_answer) look_after(peer, now);
    if (is_named || !peer.abort_contexts.empty()) dial_again(peer, now);
  }
  if (any_source_waits && search_ != nullptr && !leaving_) search_();
}

void Messenger::look_after(Peer& peer, TimePoint now) noexcept {
  Pulse& pulse = peer.pulse;
  const bool is_continued = now - pulse.looked <= longest_pause;
  pulse.looked = now;
  if (!is_continued || peer.heard != pulse.heard) return note_sign_of_life(peer, now);
  const auto quiet = now - pulse.last_sign;
  if (quiet < ping_after) return;
  const auto silence = peer.endpoint->silence();
  if (!silence) return;
  if (!pulse.ping_out) {
    pulse.ping_out = peer.ping_wanted = true;
    if (!peer.blocked) drive(peer);
  }
  if (*silence >= longest_silence) {
    peer.close_reason = {Code::peer_died, ETIMEDOUT};
    return hang_up(*peer.endpoint);
  }
  if (quiet < suspicion_after || pulse.suspected) return;
  pulse.suspected = true;
  PARLEY_LOG(warn, "p2p", peer.title, " has not answered for ", duration_cast<seconds>(quiet).count(),
             " s, but its host does: the process is stopped, or kept from its core");
}

void clear_of_suspicion(Peer& peer, std::chrono::steady_clock::time_point now) noexcept {
  if (!std::exchange(peer.pulse.suspected, false)) return;
  PARLEY_LOG(warn, "p2p", peer.title, " answers again, after ",
             duration_cast<seconds>(now - peer.pulse.last_sign).count(), " s");
}

}  // namespace parley::transport
