#include "bench/peers/gloo_system.h"

namespace parley::bench {
namespace {

using UnboundBuffers = std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>>;

UnboundBuffers make_buffers(gloo::Context& mesh, std::span<std::uint8_t> memory, int count) {
  UnboundBuffers buffers;
  for (int i = 0; i < count; ++i) buffers.push_back(mesh.createUnboundBuffer(memory.data(), memory.size()));
  return buffers;
}

}  // namespace

GlooBoundSystem::GlooBoundSystem(gloo::Context& mesh, int partner, Buffers& buffers, const Plan& plan)
    : window_(plan.window) {
  DistinctMessages& messages = buffers.distinct();
  constexpr int numbers = 2;
  const auto slot = static_cast<int>(mesh.nextSlot(numbers + messages.count()));
  const auto& pair = mesh.getPair(partner);
  out_ = pair->createSendBuffer(slot, buffers.out().data(), buffers.out().size());
  in_ = pair->createRecvBuffer(slot, buffers.in().data(), buffers.in().size());
  ack_out_ = pair->createSendBuffer(slot + 1, ack_memory_.data(), 1);
  ack_in_ = pair->createRecvBuffer(slot + 1, ack_memory_.data() + 1, 1);
  for (int i = 0; i < messages.count(); ++i) {
    const int own = slot + numbers + i;
    distinct_out_.push_back(pair->createSendBuffer(own, messages.out(i).data(), messages.out(i).size()));
    distinct_in_.push_back(pair->createRecvBuffer(own, messages.in(i).data(), messages.in(i).size()));
  }
}

void GlooBoundSystem::send_window() {
  // A send of a busy-polling pair is over when it returns, and is to be acknowledged before the next.
  for (int i = 0; i < window_; ++i) send();
}

void GlooBoundSystem::recv_window() {
  for (int i = 0; i < window_; ++i) in_->waitRecv();
}

void GlooBoundSystem::send_distinct(DistinctMessages&, int i) {
  const auto& buffer = distinct_out_[static_cast<std::size_t>(i)];
  buffer->send();
  buffer->waitSend();
}

void GlooBoundSystem::recv_distinct(DistinctMessages&, int i) {
  distinct_in_[static_cast<std::size_t>(i)]->waitRecv();
}

void GlooBoundSystem::finish_posted() {
  for (const int i : posted_) distinct_in_[static_cast<std::size_t>(i)]->waitRecv();
  posted_.clear();
}

GlooUnboundSystem::GlooUnboundSystem(gloo::Context& mesh, int partner, Buffers& buffers, const Plan& plan)
    : mesh_(mesh),
      partner_(partner),
      slot_(mesh.nextSlot()),
      out_(make_buffers(mesh, buffers.out(), plan.window)),
      in_(make_buffers(mesh, buffers.in(), plan.window)),
      ack_(mesh.createUnboundBuffer(ack_memory_.data(), ack_memory_.size())) {}

void GlooUnboundSystem::send() {
  out_.front()->send(partner_, slot_);
  out_.front()->waitSend();
}

void GlooUnboundSystem::recv() {
  in_.front()->recv(partner_, slot_);
  in_.front()->waitRecv();
}

void GlooUnboundSystem::send_window() {
  for (const Buffer& buffer : out_) buffer->send(partner_, slot_);
  for (const Buffer& buffer : out_) buffer->waitSend();
}

void GlooUnboundSystem::recv_window() {
  for (const Buffer& buffer : in_) buffer->recv(partner_, slot_);
  for (const Buffer& buffer : in_) buffer->waitRecv();
}

void GlooUnboundSystem::exchange_windows() {
  for (const Buffer& buffer : in_) buffer->recv(partner_, slot_);
  send_window();
  for (const Buffer& buffer : in_) buffer->waitRecv();
}

void GlooUnboundSystem::send_ack() {
  ack_->send(partner_, slot_);
  ack_->waitSend();
}

void GlooUnboundSystem::recv_ack() {
  ack_->recv(partner_, slot_);
  ack_->waitRecv();
}

void GlooUnboundSystem::send_distinct(DistinctMessages& messages, int i) {
  post_send(messages, i);
  finish_posted();
}

void GlooUnboundSystem::recv_distinct(DistinctMessages& messages, int i) {
  post_receive(messages, i);
  finish_posted();
}

void GlooUnboundSystem::post_send(DistinctMessages& messages, int i) {
  posted_sends_.push_back(mesh_.createUnboundBuffer(messages.out(i).data(), messages.out(i).size()));
  posted_sends_.back()->send(partner_, slot_);
}

void GlooUnboundSystem::post_receive(DistinctMessages& messages, int i) {
  posted_receives_.push_back(mesh_.createUnboundBuffer(messages.in(i).data(), messages.in(i).size()));
  posted_receives_.back()->recv(partner_, slot_);
}

void GlooUnboundSystem::finish_posted() {
  for (const Buffer& buffer : posted_sends_) buffer->waitSend();
  for (const Buffer& buffer : posted_receives_) buffer->waitRecv();
  posted_sends_.clear();
  posted_receives_.clear();
}

}  // namespace parley::bench
