#include "bench/limits/systems.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "transport/base/non_temporal.h"

namespace parley::bench {
namespace {

// One slot is never ahead of its cell, so a single cell will do; several need one each.
Op cells_for(const Slots& slots) noexcept {
  return slots.count == 1 ? Op::latency : Op::bandwidth;
}

std::uint32_t after(std::uint32_t slot, const Slots& slots) noexcept {
  return slot + 1 == slots.count ? 0 : slot + 1;
}

}  // namespace

CopiedSystem::CopiedSystem(Channel& channel, Buffers& buffers, const Plan& plan, const Slots& slots,
                           Stores stores)
    : ChannelLoop(channel, buffers, cells_for(slots), plan),
      outgoing_(channel.out()),
      incoming_(channel.in()),
      slots_(slots),
      stores_(stores) {}

void CopiedSystem::send() {
  for (std::size_t done = 0; done < bytes_;) {
    if (!has_free_slot()) waiting_.until([&] { return has_free_slot(); });
    done += push(done);
  }
}

std::size_t CopiedSystem::push(std::size_t done) {
  const std::size_t offset = done % bytes_;
  const std::size_t piece = std::min(slots_.bytes, bytes_ - offset);
  std::uint8_t* slot = outgoing_.slots + slot_out_ * slots_.bytes;
  if (stores_ == Stores::cached)
    std::memcpy(slot, out_ + offset, piece);
  else
    base::copy_past_caches(reinterpret_cast<std::byte*>(slot),
                           reinterpret_cast<const std::byte*>(out_ + offset), piece);
  cells_out_.claim().bytes = static_cast<std::uint32_t>(piece);
  cells_out_.publish();
  ++outgoing_.sent;
  slot_out_ = after(slot_out_, slots_);
  return piece;
}

bool CopiedSystem::has_free_slot() {
  if (outgoing_.sent - known_taken_ < slots_.count) return true;
  // acquire: the slot is written only after the receiver has read it.
  known_taken_ = outgoing_.taken.load(std::memory_order_acquire);
  return outgoing_.sent - known_taken_ < slots_.count;
}

void CopiedSystem::recv() {
  for (std::size_t done = 0; done < bytes_;) done += pull(done);
  // The partner has answered: it had taken all.
  known_taken_ = outgoing_.sent;
}

std::size_t CopiedSystem::pull(std::size_t done) {
  const std::size_t piece = cells_in_.take(waiting_).bytes;
  std::memcpy(in_ + done % bytes_, incoming_.slots + slot_in_ * slots_.bytes, piece);
  slot_in_ = after(slot_in_, slots_);
  // release: the slot has been read.
  incoming_.taken.store(++incoming_.received, std::memory_order_release);
  return piece;
}

void CopiedSystem::exchange_windows() {
  const std::size_t window_bytes = bytes_ * static_cast<std::size_t>(window_);
  std::size_t sent = 0;
  std::size_t received = 0;
  const auto can_push = [&] { return sent < window_bytes && has_free_slot(); };
  const auto can_pull = [&] { return received < window_bytes && cells_in_.has_next(); };
  while (sent < window_bytes || received < window_bytes) {
    waiting_.until([&] { return can_push() || can_pull(); });
    if (can_push()) sent += push(sent);
    if (can_pull()) received += pull(received);
  }
}

void CopiedSystem::recv_ack() {
  ChannelLoop::recv_ack();
  known_taken_ = outgoing_.sent;
}

void StreamSystem::send_ack() {
  incoming_.received += static_cast<std::uint64_t>(window_);
  // release: the cells have been read.
  incoming_.taken.store(incoming_.received, std::memory_order_release);
}

void StreamSystem::recv_ack() {
  const auto window = static_cast<std::uint64_t>(window_);
  outgoing_.sent += window;
  // acquire: the next window's cells are written only after the receiver has read them.
  waiting_.until([&] {
    return outgoing_.sent - outgoing_.taken.load(std::memory_order_acquire) <= ring_cells - window;
  });
}

void CrossMemorySystem::send() {
  Cell& cell = cells_out_.claim();
  cell.address = reinterpret_cast<std::uint64_t>(out_);
  cell.bytes = static_cast<std::uint32_t>(bytes_);
  cells_out_.publish();
}

void CrossMemorySystem::recv() {
  const Cell& cell = cells_in_.take(waiting_);
  read_from_process(partner_, cell.address, in_, bytes_);
}

void MappedSystem::send() {
  cells_out_.claim().bytes = static_cast<std::uint32_t>(bytes_);
  cells_out_.publish();
}

void MappedSystem::recv() {
  cells_in_.take(waiting_);
  std::memcpy(in_, arena_, bytes_);
}

void read_from_process(pid_t process, std::uint64_t address, std::uint8_t* to, std::size_t bytes) {
  while (bytes > 0) {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t moved = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved <= 0) {
      throw std::system_error(moved < 0 ? errno : EFAULT, std::generic_category(),
                              "process_vm_readv from process " + std::to_string(process));
    }
    to += moved;
    address += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
}

}  // namespace parley::bench
