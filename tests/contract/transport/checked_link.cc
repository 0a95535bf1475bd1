#include "tests/contract/transport/checked_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/contract/transport/content.h"

namespace parley::transport::contract {

using base::Code;
using base::Scope;
using base::Status;

namespace {
// So that whoever still reads it sends what the receiver does not expect.
void overwrite(std::vector<std::byte>& payload) {
  if (!payload.empty()) std::memset(payload.data(), 0xdd, payload.size());
}
}  // namespace

void CheckedLink::send(const std::vector<std::size_t>& sizes, Endpoint::Urgency urgency) {
  for (const std::size_t bytes : sizes) queue_.push_back({bytes, urgency});
  pump();
}

std::size_t CheckedLink::pump() {
  std::size_t count = 0;
  while (is_open() && !closing_ && !refused_ && !sending_ && !queue_.empty()) {
    // Out of the queue first: a completion or callback below must not send it again.
    const Queued next = queue_.front();
    queue_.pop_front();
    const Status answer = try_send(next.bytes, next.urgency);
    if (answer.ok() || answer.code() == Code::in_progress) {
      ++count;
    } else {
      queue_.push_front(next);
      if (answer.code() != Code::again) break;
    }
  }
  return count;
}

Status CheckedLink::try_send(std::size_t bytes, Endpoint::Urgency urgency) {
  auto sent = std::make_unique<Sent>();
  sent->fn = &CheckedLink::on_done;
  sent->link = this;
  const auto payload = payload_of(self_, taken_, bytes);
  sent->payload.assign(payload.begin(), payload.end());
  const bool may_complete_later = bytes > endpoint_->copy_limit_bytes();
  sending_ = true;
  const Status answer =
      endpoint_->try_send(make_header(self_, taken_, bytes), {sent->payload.data(), sent->payload.size()},
                          may_complete_later ? sent.get() : nullptr, urgency);
  sending_ = false;
  check_answer(answer, bytes);
  // Nobody reads the payload now, unless it was taken to be read later.
  if (answer.code() != Code::in_progress) overwrite(sent->payload);
  if (answer.code() == Code::in_progress) {
    ++unfinished_;
    sent_.push_back(std::move(sent));
  }
  return answer;
}

void CheckedLink::check_answer(Status answer, std::size_t bytes) {
  switch (answer.code()) {
    case Code::in_progress:
      EXPECT_GT(bytes, endpoint_->copy_limit_bytes()) << "a small payload is copied";
      [[fallthrough]];
    case Code::ok:
      EXPECT_FALSE(closing_) << "a closed link takes nothing";
      ++taken_;
      break;
    case Code::again:
      EXPECT_FALSE(closing_);
      EXPECT_TRUE(taken_ != 0 || bytes != 0) << "a link takes its first packet";
      refused_ = true;
      ++refusals_;
      break;
    default: EXPECT_GE(answer.scope(), Scope::peer) << answer.describe();
  }
}

void CheckedLink::on_done(Completion& done, Status status) noexcept {
  Sent& sent = static_cast<Sent&>(done);
  CheckedLink& link = *sent.link;
  EXPECT_FALSE(link.sending_) << "a completion ran inside try_send()";
  EXPECT_FALSE(sent.outcome.has_value()) << "a completion ran twice";
  EXPECT_TRUE(link.is_open()) << "a completion ran after on_closed()";
  EXPECT_NE(status.code(), Code::again);
  EXPECT_NE(status.code(), Code::in_progress);
  if (sent.outcome.has_value()) return;
  sent.outcome = status;
  overwrite(sent.payload);
  --link.unfinished_;
  link.pump();
}

void CheckedLink::close() {
  closing_ = true;
  endpoint_->close();
  EXPECT_EQ(unfinished_, 0U) << "close() runs the completions";
}

std::size_t CheckedLink::completed(Code code) const {
  return static_cast<std::size_t>(std::count_if(sent_.begin(), sent_.end(), [code](const auto& sent) {
    return sent->outcome.has_value() && sent->outcome->code() == code;
  }));
}

void CheckedLink::expect_header(const PacketHeader& header) const {
  EXPECT_FALSE(sending_) << "a delivery inside try_send()";
  EXPECT_TRUE(is_open()) << "a delivery after on_closed()";
  EXPECT_FALSE(closing_) << "a delivery after close()";
  EXPECT_LE(header.payload_bytes, max_payload_bytes);
  EXPECT_TRUE(same_header(header, make_header(peer_, received_, header.payload_bytes)))
      << "expected packet " << received_ << " of " << peer_ << ", got " << header.id << " of "
      << header.context;
}

void CheckedLink::expect_payload(std::span<const std::byte> payload) const {
  EXPECT_TRUE(same_bytes(payload, payload_of(peer_, received_, payload.size())))
      << "content of packet " << received_ << ", " << payload.size() << " bytes";
}

void CheckedLink::packet(const PacketHeader& header, std::span<const std::byte> payload) {
  EXPECT_FALSE(landing_.has_value()) << "a packet between on_header() and on_landed()";
  expect_header(header);
  EXPECT_EQ(payload.size(), header.payload_bytes);
  expect_payload(payload);
  arrived();
}

base::MemoryRef CheckedLink::header(const PacketHeader& header) {
  EXPECT_FALSE(landing_.has_value()) << "a header between on_header() and on_landed()";
  expect_header(header);
  landing_ = header;
  target_.assign(header.payload_bytes, std::byte{0});
  if (on_announced) on_announced(*this);
  return {target_.data(), target_.size()};
}

void CheckedLink::landed(const PacketHeader& header) {
  EXPECT_TRUE(landing_.has_value()) << "on_landed() without on_header()";
  expect_header(header);
  EXPECT_EQ(target_.size(), header.payload_bytes);
  expect_payload(target_);
  landing_.reset();
  ++landings_;
  arrived();
}

void CheckedLink::arrived() {
  ++received_;
  if (on_received) on_received(*this);
}

void CheckedLink::writable() {
  EXPECT_FALSE(sending_) << "on_writable() inside try_send()";
  EXPECT_TRUE(is_open()) << "on_writable() after on_closed()";
  EXPECT_TRUE(refused_) << "on_writable() without a refusal";
  refused_ = false;
  pump();
}

void CheckedLink::closed(Status reason) {
  EXPECT_TRUE(is_open()) << "on_closed() twice";
  EXPECT_FALSE(sending_) << "on_closed() inside try_send()";
  EXPECT_EQ(unfinished_, 0U) << "on_closed() before its completions";
  EXPECT_GE(reason.scope(), Scope::peer) << reason.describe();
  reason_ = reason;
  endpoint_ = nullptr;
}

}  // namespace parley::transport::contract
