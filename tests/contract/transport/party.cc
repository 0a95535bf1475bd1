#include "tests/contract/transport/party.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace parley::transport::contract {

using base::Status;

base::Deadline Party::patience() {
  const char* const asked = std::getenv("PARLEY_CONTRACT_PATIENCE");
  const int seconds = asked == nullptr ? 0 : std::atoi(asked);
  return base::Deadline::after(std::chrono::seconds(seconds > 0 ? seconds : 60));
}

Party::Party(std::unique_ptr<Site> site, PeerId self)
    : self_(self), site_(std::move(site)), transport_(site_->make(self)) {
  EXPECT_TRUE(transport_->start(*this).ok());
}

// What the lifecycle of a transport asks for.
Party::~Party() {
  each_step = nullptr;  // it may refer to what the test body had
  if (!is_alive()) return;
  close();
  const auto deadline = patience();
  while (step() != 0 && !deadline.expired()) {
  }
  for (const auto& link : links_) EXPECT_FALSE(link->is_open()) << "on_closed() is missing after close()";
}

void Party::connect(PeerId peer, const std::string& address, base::Deadline deadline) {
  // A copy that is gone when connect() returns.
  const std::string copy = address;
  transport_->connect(peer, copy, deadline);
}

std::size_t Party::step() {
  std::size_t events = site_->poll();
  if (is_alive()) {
    inside_ = true;
    if (++steps_ % 2 == 0) events += take_arrived();
    events += transport_->progress(awaited != nullptr ? awaited->endpoint() : nullptr);
    inside_ = false;
    for (const auto& link : links_) events += link->pump();
  }
  if (each_step && each_step()) ++events;
  return events;
}

// As a waiter does between two passes.
std::size_t Party::take_arrived() {
  std::size_t events = 0;
  for (const auto& link : links_)
    if (link->is_open() && link->endpoint()->has_quick_look) events += link->endpoint()->take_arrived();
  return events;
}

void Party::sleep(base::Deadline deadline, const std::function<bool()>& stop) {
  site_->announce_sleep();
  if (stop() || (is_alive() && !transport_->arm()))
    site_->cancel_sleep();
  else
    site_->sleep(deadline);
}

void Party::close() {
  inside_ = true;
  transport_->close();
  inside_ = false;
}

void Party::kill() {
  transport_.reset();
}

CheckedLink* Party::link_to(PeerId peer) const {
  const auto found =
      std::find_if(links_.begin(), links_.end(), [peer](const auto& link) { return link->peer() == peer; });
  return found == links_.end() ? nullptr : found->get();
}

std::string Party::describe() const {
  std::string text = "party " + std::to_string(self_) + ":";
  for (const auto& link : links_)
    text += " [to " + std::to_string(link->peer()) + (link->is_open() ? "" : " closed") + ", taken " +
            std::to_string(link->taken()) + ", received " + std::to_string(link->received()) +
            ", unfinished " + std::to_string(link->unfinished()) + (link->is_refused() ? ", refused" : "") +
            "]";
  for (const auto& one : unreachable_) text += " [unreachable: " + one.why + "]";
  return text;
}

CheckedLink& Party::link_of(Endpoint& endpoint) const {
  EXPECT_TRUE(inside_) << "a callback outside of progress(), take_arrived() and close()";
  return *static_cast<CheckedLink*>(endpoint.user);
}

void Party::on_link(PeerId peer, Endpoint& endpoint) noexcept {
  EXPECT_TRUE(inside_) << "a callback outside of progress(), take_arrived() and close()";
  for (const auto& link : links_) EXPECT_NE(link->endpoint(), &endpoint) << "on_link() twice";
  EXPECT_EQ(endpoint.user, nullptr);
  endpoint.user = links_.emplace_back(std::make_unique<CheckedLink>(self_, peer, endpoint)).get();
  if (on_linked) on_linked(*links_.back());
}

void Party::on_unreachable(PeerId peer, Status status, std::string_view why) noexcept {
  EXPECT_TRUE(inside_) << "a callback outside of progress(), take_arrived() and close()";
  unreachable_.push_back({peer, status, std::string(why)});
}

void Party::on_packet(Endpoint& endpoint, const PacketHeader& header,
                      std::span<const std::byte> payload) noexcept {
  link_of(endpoint).packet(header, payload);
}

base::MemoryRef Party::on_header(Endpoint& endpoint, const PacketHeader& header) noexcept {
  return link_of(endpoint).header(header);
}

void Party::on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept {
  link_of(endpoint).landed(header);
}

void Party::on_writable(Endpoint& endpoint) noexcept {
  link_of(endpoint).writable();
}

void Party::on_closed(Endpoint& endpoint, Status reason) noexcept {
  link_of(endpoint).closed(reason);
}

namespace {

void give_up(const Parties& parties) {
  std::string text = "the test did not come to its end";
  for (const auto& party : parties) text += "\n  " + party->describe();
  ADD_FAILURE() << text;
}

void run_in_turn(Parties& parties, const std::function<bool(Party&)>& finished) {
  const auto deadline = Party::patience();
  std::vector<bool> is_finished(parties.size(), false);
  while (std::find(is_finished.begin(), is_finished.end(), false) != is_finished.end()) {
    if (deadline.expired()) return give_up(parties);
    for (std::size_t i = 0; i < parties.size(); ++i) {
      parties[i]->step();
      if (!is_finished[i] && finished(*parties[i])) is_finished[i] = true;
    }
  }
}

void run_in_threads(Parties& parties, const std::function<bool(Party&)>& finished) {
  const auto deadline = Party::patience();
  // seq_cst: a few flags of a test; nothing here is worth a weaker order.
  std::atomic<std::size_t> unfinished{parties.size()};
  const auto stop = [&] { return unfinished == 0 || deadline.expired(); };
  const auto drive = [&](Party& party) {
    bool is_finished = false;
    while (!stop()) {
      const std::size_t events = party.step();
      if (!is_finished && finished(party)) {
        is_finished = true;
        if (--unfinished == 0)
          for (const auto& other : parties) other->site().doorbell().ring();
      }
      if (events == 0) party.sleep(deadline, stop);
    }
  };
  std::vector<std::thread> threads;
  for (const auto& party : parties) threads.emplace_back(drive, std::ref(*party));
  for (auto& thread : threads) thread.join();
  if (unfinished != 0) give_up(parties);
}

}  // namespace

void run_until(Parties& parties, Drive drive, const std::function<bool(Party&)>& finished) {
  if (drive == Drive::one_thread)
    run_in_turn(parties, finished);
  else
    run_in_threads(parties, finished);
}

}  // namespace parley::transport::contract
