#include "tests/fuzz/local_side.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/fuzz/expect.h"

namespace parley::fuzz {

using base::Code;
using base::Status;
using transport::any_source;
using transport::any_tag;
using transport::Request;
using transport::RequestState;

namespace {

constexpr std::size_t buffer_sizes[] = {0, 1, 100, 4'096, 9'000, 70'000, 200'000};

}  // namespace

Status ForgedLink::try_send(const transport::PacketHeader& header, const base::ConstMemoryRef& payload,
                            transport::Completion* done, Urgency) noexcept {
  if (closed_) return Code::peer_died;
  if (refuses || reading_ != nullptr) return Code::again;
  FUZZ_EXPECT(header.payload_bytes == payload.bytes && payload.bytes <= transport::max_payload_bytes);
  if (payload.bytes <= copy_limit_bytes()) return {};
  FUZZ_EXPECT(done != nullptr);
  reading_ = done;
  payload_ = payload;
  return Code::in_progress;
}

void ForgedLink::close() noexcept {
  closed_ = true;
  receiver_.stop();
}

void ForgedLink::finish_reading(Status status) {
  if (reading_ == nullptr) return;
  // The sanitizer sees whether the payload is still there.
  const std::byte volatile* bytes = payload_.data;
  static_cast<void>(bytes[0]);
  static_cast<void>(bytes[payload_.bytes - 1]);
  transport::Completion* done = std::exchange(reading_, nullptr);
  done->fn(*done, status);
}

std::optional<transport::Exposure> ForgedMover::expose(base::ConstMemoryRef) noexcept {
  transport::Exposure exposure;
  exposure.handle = exposed_.empty() ? 1 : exposed_.back() + 1;
  exposed_.push_back(exposure.handle);
  return exposure;
}

bool ForgedMover::withdraw(std::uint64_t handle) noexcept {
  note_pulled(handle);
  return !has_taken;
}

void ForgedMover::note_pulled(std::uint64_t handle) noexcept {
  FUZZ_EXPECT(std::erase(exposed_, handle) == 1);  // each handle is given back once
}

Status ForgedMover::pull(const transport::RemoteKey& key, base::MemoryRef into,
                         transport::Completion& done) noexcept {
  if (key.bytes[0] == std::byte{1}) return Code::io_error;
  pulls_.push_back({into, &done});
  return Code::in_progress;
}

void ForgedMover::stop(transport::Completion& done) noexcept {
  FUZZ_EXPECT(std::erase_if(pulls_, [&](const Pull& pull) { return pull.done == &done; }) == 1);
}

void ForgedMover::end_a_pull(Input& input) {
  if (pulls_.empty()) return;
  const Pull pull = pulls_.front();
  pulls_.erase(pulls_.begin());
  std::fill_n(pull.into.data, pull.into.bytes, std::byte{0x55});  // the sanitizer sees whether it may
  static constexpr Code ends[] = {Code::ok, Code::cancelled, Code::io_error};
  pull.done->fn(*pull.done, input.one_of(ends));
}

LocalSide::LocalSide(transport::FrameReceiver& receiver)
    : link_(receiver),
      messenger_(transport::MessengerOptions{.self = 0,
                                             .peer_count = 3,
                                             .eager_limit_bytes = 4096,
                                             .piece_bytes = 16 * 1024,
                                             .routed_bytes = 1}) {
  link_.mover = &mover_;
  messenger_.on_link(1, link_);
}

LocalSide::~LocalSide() {
  for (transport::Unexpected* message : held_) messenger_.put_back(*message);
  for (const Operation& operation : operations_) {
    messenger_.cancel(*operation.request, Code::cancelled);
    messenger_.release(*operation.request);
  }
}

void LocalSide::act(Input& input) {
  if (!linked()) return;
  switch (input.choice(15)) {
    case 0: return send(input);
    case 1:
    case 2: return receive(input);
    case 3: return probe(input);
    case 4:
      if (Request* request = any_request(input)) messenger_.cancel(*request, Code::cancelled);
      return;
    case 5: return let_go(input);
    case 6: link_.refuses = !link_.refuses; [[fallthrough]];
    case 7:
      link_.finish_reading({});
      if (!link_.refuses) messenger_.on_writable(link_);
      return;
    case 8:
      now_ += std::chrono::seconds(1) * static_cast<int>(input.choice(8));
      messenger_.tick(now_);
      return;
    case 9:
      if (Request* request = any_request(input);
          request != nullptr && request->peer != nullptr && request->state != RequestState::done)
        messenger_.tell_stall(*request, input.choice(2) == 1);
      return;
    case 10: messenger_.abort_context(static_cast<std::uint32_t>(input.choice(3)), 0, "aborted here"); return;
    case 11: return mover_.end_a_pull(input);
    case 12:
      mover_.has_taken = input.choice(2) == 1;
      messenger_.lose_patience();
      return;
    case 13: return change_group();
    default:
      messenger_.pump();
      messenger_.end_burst();
      messenger_.acknowledge_failures(context_of(input));
  }
}

// Leaves the group, which the attacker may speak of before, meanwhile and after, and makes the next one.
void LocalSide::change_group() {
  if (messenger_.live_requests() != 0 || !held_.empty()) return;
  messenger_.close_context(group_);
  const std::array<std::uint32_t, 2> members{0, 1};
  if (++group_ < last_group) (void)messenger_.open_context(group_, members);
}

// Of the world, or of the group.
std::uint32_t LocalSide::context_of(Input& input) {
  const auto context = static_cast<std::uint32_t>(input.choice(4));
  return context == 3 ? group_ : context;
}

void LocalSide::send(Input& input) {
  const std::size_t bytes = input.one_of(buffer_sizes);
  auto buffer = std::make_unique<std::byte[]>(bytes);
  transport::SendSpec spec;
  spec.destination = 1;
  spec.context = context_of(input);
  spec.tag = static_cast<std::int64_t>(input.choice(4));
  spec.data = buffer.get();
  spec.bytes = bytes;
  spec.synchronous = input.choice(2) == 1;
  spec.timeout = std::chrono::seconds(10);
  keep(std::move(buffer), messenger_.send(spec));
}

transport::ReceiveSpec LocalSide::spec_of(Input& input, std::unique_ptr<std::byte[]>& buffer) {
  transport::ReceiveSpec spec;
  spec.capacity_bytes = input.one_of(buffer_sizes);
  buffer = std::make_unique<std::byte[]>(spec.capacity_bytes);
  spec.data = buffer.get();
  spec.pattern.context = context_of(input);
  spec.pattern.source = input.choice(3) == 0 ? any_source : 1;
  spec.pattern.tag = input.choice(3) == 0 ? any_tag : static_cast<std::int64_t>(input.choice(4));
  spec.type_code = static_cast<std::uint8_t>(input.choice(2));
  spec.timeout = std::chrono::seconds(10);
  return spec;
}

void LocalSide::receive(Input& input) {
  std::unique_ptr<std::byte[]> buffer;
  const auto spec = spec_of(input, buffer);
  keep(std::move(buffer), messenger_.receive(spec));
}

// Takes a message out of matching, or does one of the two things that can be done with those that are out.
void LocalSide::probe(Input& input) {
  std::unique_ptr<std::byte[]> buffer;
  const auto spec = spec_of(input, buffer);
  if (held_.empty() || input.choice(2) == 0) {
    if (transport::Unexpected* message = messenger_.peek(spec.pattern); message != nullptr) {
      messenger_.hold(*message);
      held_.push_back(message);
    }
    return;
  }
  transport::Unexpected* message = held_.back();
  held_.pop_back();
  if (input.choice(2) == 0)
    messenger_.put_back(*message);
  else
    keep(std::move(buffer), messenger_.receive_held(*message, spec));
}

void LocalSide::keep(std::unique_ptr<std::byte[]> buffer, const transport::Posted& posted) {
  if (posted.request != nullptr) operations_.push_back({std::move(buffer), posted.request});
}

// A request that its caller lets go of ends by itself.
void LocalSide::let_go(Input& input) {
  if (operations_.empty()) return;
  const auto which =
      operations_.begin() +
      static_cast<std::ptrdiff_t>(input.choice(operations_.size() % 256 + 1) % operations_.size());
  messenger_.release(*which->request);
  released_.push_back(std::move(which->buffer));
  operations_.erase(which);
}

Request* LocalSide::any_request(Input& input) {
  return operations_.empty() ? nullptr : operations_[input.byte() % operations_.size()].request;
}

void LocalSide::end(Status reason) {
  if (!std::exchange(linked_, false)) return;
  link_.finish_reading(Code::cancelled);
  messenger_.on_closed(link_, reason);
}

void LocalSide::finish() {
  end(Code::peer_died);
  for (const Operation& operation : operations_) {
    const Request& request = *operation.request;
    FUZZ_EXPECT(request.state == RequestState::done || request.state == RequestState::posted);
    // Only what may still come from process 2, or from us, is left.
    if (request.state == RequestState::posted) FUZZ_EXPECT(request.pattern.source == any_source);
  }
  FUZZ_EXPECT(messenger_.peer(1).offers.any() == nullptr);
}

std::int64_t LocalSide::likely_tag(Input& input) {
  switch (input.choice(6)) {
    case 0: return -1;
    case 1:
      if (const Request* request = any_request(input)) return static_cast<std::int64_t>(request->moved_bytes);
      return 0;
    case 2: return std::int64_t{1} << 62;
    default: return static_cast<std::int64_t>(input.choice(4));
  }
}

std::uint32_t LocalSide::likely_id(Input& input) {
  if (input.choice(3) == 0) return static_cast<std::uint32_t>(input.choice(5));
  const Request* request = any_request(input);
  return request == nullptr ? 0 : request->id;
}

std::uint64_t LocalSide::likely_size(Input& input, std::uint32_t payload_bytes) {
  switch (input.choice(4)) {
    case 0: return std::uint64_t{1} << 63;
    case 1: return input.one_of(buffer_sizes);
    default: return payload_bytes;
  }
}

}  // namespace parley::fuzz
