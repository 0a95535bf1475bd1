#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/base/slab_pool.h"
#include "transport/interface/sink.h"
#include "transport/match/matcher.h"
#include "transport/protocol/buffer_pool.h"
#include "transport/protocol/contexts.h"
#include "transport/protocol/core_clock.h"
#include "transport/protocol/device.h"
#include "transport/protocol/id_table.h"
#include "transport/protocol/peer.h"
#include "transport/protocol/peer_table.h"
#include "transport/protocol/request.h"
#include "transport/protocol/route.h"
#include "transport/protocol/specs.h"
#include "transport/protocol/unexpected.h"

namespace parley::transport {

// The message protocol over ordered links: matching, eager and offered messages, credit, cancelling, failure
// of peers. It moves nothing by itself: transports deliver to it as PacketSink; it answers with try_send().
//
// Invariants: (1) a request is in exactly one of {an outbox, `streams`, `tendered_`, the matcher, none};
// (2) messages to one peer enter its link in the order of the send calls; (3) a buffer is touched only in the
// states that RequestState names; (4) no link is ever left unread.
// Thread-safety: none; the engine's lock. Eager messages: no allocation, 1 try_send(), 2 if tendered in vain.
class Messenger final : public PacketSink {
 public:
  explicit Messenger(const MessengerOptions& options);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  // Has `connect` called, once for each peer, when it is first needed: by a send, a receive that names it, or
  // an abort. Whoever is dialled at the same time by the peer gets one link all the same.
  void connect_on_demand(std::function<void(PeerId)> connect) { connect_ = std::move(connect); }
  // `connect` may say that it looks for the address first; then one of the others follows: it is called
  // again, or there is no link for now. They do nothing when there is one meanwhile.
  void await_address(PeerId number) noexcept;
  void take_address(PeerId number) noexcept;
  void lack_address(PeerId number, std::string_view why) noexcept;

  // Has `way` asked when a dial has come to nothing, and why; true: it has begun another one.
  void set_other_way(std::function<bool(PeerId, std::string_view)> way) { other_way_ = std::move(way); }

  // Has `search` called at each tick at which a receive or probe from any source has waited for half a
  // second: peers without a link tell it nothing. `search` may call await_peer() and note_fate().
  void set_search(std::function<void()> search) { search_ = std::move(search); }

  Posted send(const SendSpec& spec) noexcept;
  Posted receive(const ReceiveSpec& spec) noexcept;

  // From now on large messages to this peer are announced with a key of `mover`, and pulled by its mover of
  // the same name, unless its link brings one. Before the first message, at both ends; the mover outlives
  // this object.
  void set_mover(std::uint32_t number, Mover& mover) noexcept { peers_[number].mover = &mover; }

  void set_device_movers(MakeDeviceMover make) { make_device_mover_ = std::move(make); }  // before any link

  // Begins an operation that its caller makes of others; only end_composite() ends it. Null: no memory.
  Request* begin_composite(const CompositeSpec& spec) noexcept;
  // With `status`, or as it was interrupted.
  void end_composite(Request& request, base::Status status) noexcept { complete(request, status); }

  // Takes back a posted receive or a send that its receiver has not granted; the request then ends with
  // `reason`. False: it is bound, its buffer is in use, or it has ended, as it does when its receiver turns
  // out to have it.
  bool cancel(Request& request, base::Status reason) noexcept;
  // The caller will not touch the request again; it is freed now or when it ends.
  void release(Request& request) noexcept;

  // Why no message can come for this pattern any more; ok if one can.
  [[nodiscard]] base::Status receive_obstacle(const Pattern& pattern) const noexcept;

  // Somebody waits for the peer without a request that names it: it is linked to, and looked after at the
  // next tick.
  void await_peer(std::uint32_t number) noexcept;
  // What became of a peer to which there is no link and no dial under way: it died, or left because `culprit`
  // did (`peer_died`), or left in good order (`peer_left`). Ignored where a link tells, or has told.
  void note_fate(std::uint32_t number, base::Status fate, std::uint32_t culprit) noexcept;

  // The oldest message that `pattern` accepts: peek leaves it, hold takes it out of matching. Whoever peeks
  // again and again waits for the peer, see await_peer().
  Unexpected* peek(const Pattern& pattern) noexcept;
  void hold(Unexpected& message) noexcept;
  void put_back(Unexpected& message) noexcept;
  // Receives a held message, which is then gone.
  Posted receive_held(Unexpected& message, const ReceiveSpec& spec) noexcept;

  // Ends everything in a context that process `by` has aborted, here and at all peers. False: out of memory,
  // nothing has changed.
  bool abort_context(std::uint32_t context, std::uint32_t by, std::string_view reason,
                     AbortManner manner = AbortManner::prompt) noexcept;
  // Null while the context was not aborted.
  [[nodiscard]] const AbortRecord* abort_record(std::uint32_t context) const noexcept {
    return aborts_.empty() ? nullptr : find_abort(context);  // asked for every message
  }

  // A context that is opened has these members only: its receives from any source fail for none but them, and
  // its aborts go to nobody else. Each member opens it, before its first operation there; its number was
  // never used before. False: out of memory, nothing has changed.
  bool open_context(std::uint32_t context, std::span<const std::uint32_t> members) noexcept;
  // Gives up what has come and was not received, and tells the members, whose operations with us there then
  // end with `peer_left`. REQUIRES: no operation of ours is pending there, no message is held.
  void close_context(std::uint32_t context) noexcept;

  // Ends what is past its deadline, and looks whether the peers that operations wait for are alive; returns
  // when the next deadline passes. Called every few milliseconds while somebody waits or something is
  // pending.
  std::chrono::steady_clock::time_point tick(std::chrono::steady_clock::time_point now) noexcept;

  // Whether something for a peer waits for room on its link.
  [[nodiscard]] bool is_blocked() const noexcept { return blocked_peers_ != 0; }
  // Whether a link that was wanted is not made yet.
  [[nodiscard]] bool is_dialling() const noexcept { return dials_under_way_ != 0; }
  // How often links were given something to move, or closed: while that is the same, transports got no work.
  [[nodiscard]] std::uint64_t link_calls() const noexcept { return link_calls_; }

  // Large sends leave a few pieces at a time, what is tendered shall be pulled soon, and what was asked for
  // shall come soon; whether there is any of these, and what is to be done about it at this look.
  [[nodiscard]] bool wants_pump() const noexcept {
    return yielded_ || awaits_device_ || !tendered_.empty() || !invited_.empty();
  }
  // Whether what is waited for comes from a device of ours, of which nothing but a look tells.
  [[nodiscard]] bool awaits_device() const noexcept { return awaits_device_; }
  std::size_t pump() noexcept;
  // Before a sleep: nobody waits any longer for what peers might do soon. Sends the data of all that is
  // tendered, pulls what has not come. Returns of how many.
  std::size_t lose_patience() noexcept;
  // Where ranks share cores: there is something for which it is worth to look on, and not to sleep.
  [[nodiscard]] bool is_patient(base::Clock::time_point now) noexcept;

  // Says goodbye to every peer once its outbox and streams are empty. `culprit`: the process whose failure
  // makes us leave, or nothing in good order.
  void leave(std::optional<std::uint32_t> culprit) noexcept;
  // Whether peers are yet to be told of an abort of ours, for want of a link.
  [[nodiscard]] bool owes_aborts() const noexcept;
  // Ends what is left after leave() and the end of all links.
  void end() noexcept;
  // Whether all that was sent, goodbyes included, has left this process.
  [[nodiscard]] bool drained() const noexcept;
  // Whether every peer has left or is down.
  [[nodiscard]] bool is_alone() const noexcept;
  // A burst is what is sent between two looks at the network: its first message to a peer leaves at once,
  // those that may be batched follow with the next flush. Called at each look.
  void end_burst() noexcept {
    ++burst_;
    is_held_back_ = false;
  }
  // The rest of this burst leaves together, its first messages, too. REQUIRES: the caller ends it soon.
  void hold_back() noexcept { is_held_back_ = true; }

  // Any-source receives fail once a possible sender is down; from here on the present failures are known in
  // this context.
  void acknowledge_failures(std::uint32_t context) noexcept;

  // Tells the peer of a pending request that we wait for it; that we no longer do is told by itself.
  // `may_be_helped`: another thread of ours, or a completion function, may do what the peer waits for.
  // `note`: with which the message of a receive comes, in a context with notes.
  void tell_stall(Request& request, bool may_be_helped, std::uint64_t note = 0) noexcept;
  // Ends a request with `deadlocked`, and tells its peer, which waits for us, to do the same.
  void declare_deadlock(Request& request) noexcept;

  [[nodiscard]] Peer& peer(std::uint32_t number) noexcept { return peers_[number]; }
  [[nodiscard]] const Peer& peer(std::uint32_t number) const noexcept { return peers_[number]; }
  // That there was something to do with; asking peer() for another one makes its record.
  [[nodiscard]] const PeerTable& known_peers() const noexcept { return peers_; }
  [[nodiscard]] const MessengerOptions& options() const noexcept { return options_; }
  [[nodiscard]] CoreClock& core_clock() noexcept { return core_clock_; }
  // Operations that have not ended, and the sends among them.
  [[nodiscard]] std::size_t live_requests() const noexcept { return live_count_; }
  [[nodiscard]] std::size_t live_sends() const noexcept { return live_send_count_; }
  // Operations that have ended so far.
  [[nodiscard]] std::uint64_t ended_requests() const noexcept { return ended_count_; }
  // The first failure of a possible sender that acknowledge_failures() has not settled: the root cause.
  [[nodiscard]] const std::optional<Casualty>& casualty_of(std::uint32_t context) const noexcept;
  // Whether a process is of a context.
  [[nodiscard]] bool concerns(std::uint32_t context, std::uint32_t process) const noexcept;
  // The process whose death is the first failure among all that is not acknowledged, if that is a death.
  [[nodiscard]] std::optional<std::uint32_t> known_death() const noexcept;
  // The process whose death was the first to end something of ours that was not acknowledged: the root cause
  // to say goodbye with. Nothing: what has died was not needed here.
  [[nodiscard]] std::optional<std::uint32_t> dead_process() const noexcept;
  // Operations whose end is told to a function (Request::on_done).
  [[nodiscard]] std::size_t completion_functions() noexcept;
  // Unmatched messages of a context, oldest first, for error texts.
  void visit_unmatched(std::uint32_t context, const std::function<void(const Unexpected&)>& visit);
  // One that `is_wanted`, among the oldest few unmatched messages of all contexts, so that the look costs
  // nothing much; null: there is none.
  template <typename Predicate>
  [[nodiscard]] const Unexpected* find_among_oldest(Predicate&& is_wanted) noexcept;

  // PacketSink
  void on_link(PeerId number, Endpoint& endpoint) noexcept override;
  void on_unreachable(PeerId number, base::Status status, std::string_view why) noexcept override;
  void on_packet(Endpoint& endpoint, const PacketHeader& header,
                 std::span<const std::byte> payload) noexcept override;
  base::MemoryRef on_header(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_writable(Endpoint& endpoint) noexcept override;
  void on_closed(Endpoint& endpoint, base::Status reason) noexcept override;

 private:
  // outbound.cc
  bool transmit(Peer& peer, PacketHeader& header, const std::byte* payload, Completion* done,
                Endpoint::Urgency urgency, base::Status& outcome) noexcept;
  void set_blocked(Peer& peer, bool blocked) noexcept;
  void drive(Peer& peer) noexcept;
  bool send_controls(Peer& peer) noexcept;
  bool run_errand(Peer& peer, Request& request) noexcept;
  bool run_send_errand(Peer& peer, Request& request, Endpoint::Urgency urgency) noexcept;
  bool send_grant(Peer& peer, const Request& request) noexcept;
  Request* next_stream(Peer& peer) noexcept;
  bool send_piece(Peer& peer, Request& request) noexcept;
  void enqueue(Peer& peer, Request& request, Errand errand) noexcept;
  bool wants_eager(const Peer& peer, std::size_t bytes) const noexcept;
  static void on_payload_read(Completion& completion, base::Status status) noexcept;
  void payload_read(Request& request, base::Status status) noexcept;

  // inbound.cc
  bool admit_whole(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                   std::byte* adoptable) noexcept;
  void handle_eager(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                    std::byte* adoptable) noexcept;
  void handle_offer(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                    KeyKind kind) noexcept;
  void handle_grant(Peer& peer, const PacketHeader& header, std::span<const std::byte> place) noexcept;
  void handle_pushed(Peer& peer, const PacketHeader& header) noexcept;
  void handle_data(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload) noexcept;
  void handle_revoke(Peer& peer, const PacketHeader& header) noexcept;
  void handle_revoked(Peer& peer, const PacketHeader& header) noexcept;
  void handle_abort(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload) noexcept;
  void handle_goodbye(Peer& peer, const PacketHeader& header) noexcept;
  base::MemoryRef land_in_buffer(Peer& peer, std::size_t bytes) noexcept;
  void piece_landed(Request& request, std::size_t bytes) noexcept;
  Request* data_target(Peer& peer, const PacketHeader& header) noexcept;
  void keep(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
            std::byte* adoptable) noexcept;
  void take_arrival(Request& request, Unexpected& message) noexcept;
  void accept_offer(Request& request, Peer& peer, std::uint32_t remote_id, KeyKind kind,
                    const RemoteKey& key) noexcept;
  void grant(Request& request, Peer& peer, std::size_t bytes, bool at_end_of_pass = false) noexcept;
  void wait_again(Request& request) noexcept;
  base::Status describe_match(Request& request, Peer& peer, const Envelope& envelope, std::uint8_t type_code,
                              std::size_t message_bytes) const noexcept;
  void owe(Peer& peer, std::size_t payload_bytes) noexcept;
  [[nodiscard]] bool has_notes(std::uint32_t context) const noexcept {
    return options_.noted_contexts != 0 && (context & options_.noted_contexts) == 0;
  }
  [[nodiscard]] Envelope envelope_of(const Peer& peer, const PacketHeader& header) const noexcept;
  bool take_credit(Peer& peer, const PacketHeader& header) noexcept;
  bool hold_window(Peer& peer, std::size_t payload_bytes) noexcept;
  bool list_offer(Unexpected& offer) noexcept;
  void land_offer(Unexpected& offer, std::span<const std::byte> payload, std::byte* adoptable) noexcept;
  bool store(Unexpected& message, std::span<const std::byte> payload, std::byte* adoptable) noexcept;
  void unlist_offer(const Unexpected& message) noexcept;
  void dispose(Unexpected& message) noexcept;
  void drop(Unexpected& message) noexcept;
  void drop_unmatched(const std::function<bool(const Unexpected&)>& which) noexcept;

  // groups.cc
  void remind_of_departure(Peer& peer, std::uint32_t context) noexcept;
  void handle_departed(Peer& peer, const PacketHeader& header) noexcept;
  void note_casualty(const Peer& peer, std::uint32_t culprit) noexcept;
  void tell_abort(std::uint32_t context, std::uint32_t by) noexcept;
  void forget_abort(std::uint32_t context) noexcept;

  // tender.cc
  bool wants_tender(Peer& peer, Request& request) noexcept;
  void begin_tender(Peer& peer, Request& request) noexcept;
  void note_unpulled(Peer& peer) noexcept;
  std::size_t look_after_tenders() noexcept;
  std::size_t fill_tenders() noexcept;
  void fill(Request& request) noexcept;
  bool send_fill(Peer& peer, Request& request) noexcept;
  Request* fill_target(Peer& peer, const PacketHeader& header) noexcept;
  void handle_fill(Peer& peer, const PacketHeader& header, std::span<const std::byte> payload,
                   std::byte* adoptable) noexcept;
  void tell_preference(Peer& peer) noexcept;

  // moving.cc
  void pull(Request& request, Peer& peer, const RemoteKey& key, std::size_t bytes) noexcept;
  static void on_pulled(Completion& completion, base::Status status) noexcept;
  void pulled(Request& request, base::Status status, bool in_its_turn) noexcept;
  void note_pulled(Request& request) noexcept;

  // device.cc
  base::MemoryRef land_for_device(Peer& peer, Request& request, std::size_t bytes) noexcept;
  void bring_to_device(Request& request, Peer& peer, const RemoteKey& key, std::size_t bytes) noexcept;
  bool push_from_device(Request& request, Peer& peer, std::span<const std::byte> place) noexcept;
  bool send_pushed(Peer& peer, const Request& request) noexcept;
  bool send_notes(Peer& peer) noexcept;
  void handle_note(Peer& peer, std::span<const std::byte> note) noexcept;
  std::size_t look_after_devices() noexcept;
  void lose_device(Peer& peer, Request& request, base::Status status) noexcept;

  // routing.cc
  void fetch(Request& request, Peer& peer, const RemoteKey& key, std::size_t bytes, bool tendered) noexcept;
  Route* begin_route(Request& request, Peer& peer, const RemoteKey& key, Path path, bool is_timed) noexcept;
  void end_route(Request& request) noexcept;
  void note_invited(Request& request, std::uint64_t last_moved_at) noexcept;
  void stop_inviting(Request& request) noexcept;
  std::size_t look_after_invited() noexcept;

  // linking.cc
  void set_dial(Peer& peer, DialState state, Endpoint* endpoint) noexcept;
  void end_dial(Peer& peer) noexcept;
  void want_link(Peer& peer) noexcept;
  void dial_again(Peer& peer, std::chrono::steady_clock::time_point now) noexcept;
  void accept_link(Peer& peer, Endpoint& endpoint) noexcept;
  void bring_up(Peer& peer, Endpoint& endpoint) noexcept;
  Peer* dialled_with(const Endpoint& endpoint) noexcept;
  void handle_answer(Peer& peer, const PacketHeader& header) noexcept;
  void lose_dial(Peer& peer, base::Status reason) noexcept;
  void hang_up(Endpoint& endpoint) noexcept;

  // heartbeat.cc
  static constexpr auto suspicion_after = std::chrono::seconds(5);
  using TimePoint = std::chrono::steady_clock::time_point;
  void look_after_awaited(TimePoint now) noexcept;
  void look_after(Peer& peer, TimePoint now) noexcept;

  // lifecycle.cc
  template <typename What>
  Request* new_request(const What& what) noexcept;
  void wait_without_link(Request& request) noexcept;
  void complete(Request& request, base::Status status) noexcept;
  base::Status note_end(base::Status status, const Peer* peer) noexcept;
  void finish(Request& request, base::Status status) noexcept;
  void finish_errand(Request& request) noexcept;
  void expire(Request& request) noexcept;
  std::optional<base::Status> try_end(Request& request, base::Status reason) noexcept;
  void withdraw(Request& request) noexcept;
  void settle() noexcept;
  void close_link(Peer& peer, Farewell farewell) noexcept;
  void violate(Peer& peer, const char* what) noexcept;
  void run_short(Peer& peer, const char* of_what) noexcept;
  std::chrono::steady_clock::time_point end_grace(std::chrono::steady_clock::time_point now) noexcept;
  void end_when_safe(Request& request, base::Status status) noexcept;
  void fail_peer(Peer& peer, base::Status status, std::uint32_t culprit) noexcept;
  void fail_requests(Peer& peer, base::Status status) noexcept;
  void fail_unmet(base::Status status) noexcept;
  void fail_any_source(base::Status status, Peer& peer) noexcept;
  [[nodiscard]] const AbortRecord* find_abort(std::uint32_t context) const noexcept;

  MessengerOptions options_;
  CoreClock core_clock_;
  Matcher matcher_;
  mutable PeerTable peers_;              // a question about a peer may be the first one
  std::function<void(PeerId)> connect_;  // empty: links come by themselves
  std::function<bool(PeerId, std::string_view)> other_way_;
  std::function<void()> search_;

  base::SlabPool<Request> requests_;
  base::SlabPool<Unexpected> messages_;
  base::SlabPool<Route, 16> routes_;
  BufferPool buffers_;
  IdTable<Request> ids_;
  base::IntrusiveList<Request, LiveTag> live_;  // not done
  std::size_t live_count_ = 0;
  std::size_t live_send_count_ = 0;
  std::uint64_t ended_count_ = 0;
  std::uint64_t link_calls_ = 0;

  std::uint64_t burst_ = 1;  // counts looks at the network, too
  bool is_held_back_ = false;
  base::IntrusiveList<Request, StreamTag> tendered_;
  using InvitedList = base::IntrusiveList<Route, RouteTag>;
  InvitedList invited_;
  int blocked_peers_ = 0;
  int dials_under_way_ = 0;
  std::optional<Leaving> leaving_;     // since leave()
  bool any_source_is_probed_ = false;  // since the last tick
  std::unordered_map<std::uint32_t, AbortRecord> aborts_;
  ContextTable contexts_;
  std::optional<std::uint32_t> culprit_;     // see dead_process()
  std::optional<std::uint32_t> told_death_;  // the first that an abort was said to be because of
  bool was_aborted_ = false;                 // some operation of ours
  std::optional<Casualty> casualty_;         // of the contexts of all processes
  bool ending_ = false;                      // some request has `ending` set by an abort
  bool unsettled_ = false;                   // settle() has something to do
  bool yielded_ = false;                     // pump() has something to do
  bool awaits_device_ = false;               // pieces are on their way from a device: pump() looks for them
  MakeDeviceMover make_device_mover_;
  std::vector<DeviceMover*> ended_movers_;  // of which something waits still, see DeviceMover::end()
};

}  // namespace parley::transport

#include "transport/protocol/request_life.h"
