#include "transport/inproc/inproc_lane.h"

#include <cstring>
#include <utility>

namespace parley::transport {

void InprocLane::Queue::push_back(InprocPacket& packet) noexcept {
  packet.next = nullptr;
  (last == nullptr ? first : last->next) = &packet;
  last = &packet;
}

InprocPacket* InprocLane::Queue::pop_front() noexcept {
  InprocPacket* packet = first;
  if (packet == nullptr) return nullptr;
  first = packet->next;
  if (first == nullptr) last = nullptr;
  return packet;
}

void InprocLane::Queue::destroy() noexcept {
  while (InprocPacket* packet = pop_front()) delete packet;
}

InprocLane::~InprocLane() {
  queue_.destroy();
  finished_.destroy();
  while (free_ != nullptr) delete std::exchange(free_, free_->next);
}

bool InprocLane::has_room(std::size_t bytes) const noexcept {
  return packets_ == 0 || (packets_ < limits_.lane_packets && bytes_ + bytes <= limits_.lane_bytes);
}

// Finds room, and memory of an earlier packet if there is some.
InprocLane::Push InprocLane::reserve(std::size_t bytes, std::unique_ptr<InprocPacket>& packet) {
  const std::lock_guard lock(mutex_);
  if (writer_closed_ || reader_closed_) return Push::closed;
  if (!has_room(bytes)) {
    writer_waits_ = true;
    writable_ = false;
    refused_bytes_ = bytes;
    return Push::full;
  }
  if (free_ != nullptr) packet.reset(std::exchange(free_, free_->next));
  return Push::taken;
}

InprocLane::Push InprocLane::push(const PacketHeader& header, const base::ConstMemoryRef& payload,
                                  Completion* done) {
  std::unique_ptr<InprocPacket> packet;
  if (const Push answer = reserve(payload.bytes, packet); answer != Push::taken) return answer;
  if (!packet) packet = std::make_unique<InprocPacket>();
  packet->header = header;
  packet->done = done;
  // The copy is made without the mutex: nobody else knows the packet yet.
  if (payload.bytes <= limits_.copy_limit_bytes) {
    packet->small.assign(payload.data, payload.data + payload.bytes);
  } else {
    packet->large = std::make_unique_for_overwrite<std::byte[]>(payload.bytes);
    std::memcpy(packet->large.get(), payload.data, payload.bytes);
  }
  const std::lock_guard lock(mutex_);
  queue_.push_back(*packet.release());
  ++packets_;
  bytes_ += payload.bytes;
  return Push::taken;
}

void InprocLane::recycle(InprocPacket& packet) noexcept {
  packet.next = std::exchange(free_, &packet);
}

Completion* InprocLane::take_finished() noexcept {
  const std::lock_guard lock(mutex_);
  InprocPacket* packet = finished_.pop_front();
  if (packet == nullptr) return nullptr;
  recycle(*packet);
  return std::exchange(packet->done, nullptr);
}

Completion* InprocLane::take_unfinished() noexcept {
  const std::lock_guard lock(mutex_);
  for (InprocPacket* packet = queue_.first; packet != nullptr; packet = packet->next)
    if (packet->done != nullptr) return std::exchange(packet->done, nullptr);
  return nullptr;
}

bool InprocLane::became_writable() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(writable_, false);
}

void InprocLane::close_writer() noexcept {
  const std::lock_guard lock(mutex_);
  writer_closed_ = true;
}

InprocPacket* InprocLane::peek() noexcept {
  const std::lock_guard lock(mutex_);
  return queue_.first;
}

bool InprocLane::pop() noexcept {
  const std::lock_guard lock(mutex_);
  InprocPacket& packet = *queue_.pop_front();
  --packets_;
  bytes_ -= packet.header.payload_bytes;
  packet.large.reset();
  const bool completes = packet.done != nullptr;
  if (completes)
    finished_.push_back(packet);
  else
    recycle(packet);
  if (!writer_waits_ || !has_room(refused_bytes_)) return completes;
  writer_waits_ = false;
  writable_ = true;
  return true;
}

bool InprocLane::at_end() noexcept {
  const std::lock_guard lock(mutex_);
  return writer_closed_ && packets_ == 0;
}

void InprocLane::close_reader() noexcept {
  const std::lock_guard lock(mutex_);
  reader_closed_ = true;
}

}  // namespace parley::transport
