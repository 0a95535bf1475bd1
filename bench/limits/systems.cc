#include "bench/limits/systems.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

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

CopiedSystem::CopiedSystem(Channel& channel, Buffers& buffers, const Plan& plan, const Slots& slots)
    : ChannelLoop(channel, buffers, cells_for(slots), plan),
      outgoing_(channel.out()),
      incoming_(channel.in()),
      slots_(slots) {}

void CopiedSystem::send() {
  for (std::size_t done = 0; done < bytes_; done += slots_.bytes) {
    push(out_ + done, std::min(slots_.bytes, bytes_ - done));
  }
}

void CopiedSystem::push(const std::uint8_t* data, std::size_t bytes) {
  wait_for_a_slot();
  std::memcpy(outgoing_.slots + slot_out_ * slots_.bytes, data, bytes);
  cells_out_.claim().bytes = static_cast<std::uint32_t>(bytes);
  cells_out_.publish();
  ++outgoing_.sent;
  slot_out_ = after(slot_out_, slots_);
}

void CopiedSystem::wait_for_a_slot() {
  const auto free = [&] { return outgoing_.sent - known_taken_ < slots_.count; };
  if (free()) return;
  waiting_.until([&] {
    // acquire: the slot is written only after the receiver has read it.
    known_taken_ = outgoing_.taken.load(std::memory_order_acquire);
    return free();
  });
}

void CopiedSystem::recv() {
  for (std::size_t done = 0; done < bytes_;) {
    const std::size_t piece = cells_in_.take(waiting_).bytes;
    std::memcpy(in_ + done, incoming_.slots + slot_in_ * slots_.bytes, piece);
    slot_in_ = after(slot_in_, slots_);
    // release: the slot has been read.
    incoming_.taken.store(++incoming_.received, std::memory_order_release);
    done += piece;
  }
  // The partner has answered: it had taken all.
  known_taken_ = outgoing_.sent;
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
