#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "transport/interface/device_mover.h"

namespace parley::transport {

// A device of one test: it does what it is told at once, or when the test lets it.
struct PretendDevice {
  bool is_ready = true;  // pieces come at once
  bool has_room = true;  // payloads may land in its own memory of the host
  base::Status failure;  // of all that is written and read from now on
  std::size_t piece_bytes = 10'000;
  int live = 0;                // memories that were not released
  std::size_t places_out = 0;  // landing places that were not given back
};

class PretendMemory final : public DeviceMemory {
 public:
  PretendMemory(PretendDevice& device, std::vector<std::byte> content)
      : memory(std::move(content)), device_(device) {
    ++device_.live;
  }

  base::Status write(std::size_t offset, std::span<const std::byte> from) noexcept override {
    if (device_.failure.failed()) return device_.failure;
    if (!from.empty()) std::memcpy(memory.data() + offset, from.data(), from.size());
    return {};
  }
  std::byte* landing_place(std::size_t bytes) noexcept override {
    if (!device_.has_room) return nullptr;
    ++device_.places_out;
    place_.resize(bytes);
    return place_.data();
  }
  base::Status landed(std::byte* place, std::size_t offset, std::size_t bytes) noexcept override {
    --device_.places_out;
    return write(offset, {place, bytes});
  }
  void abandon(std::byte*) noexcept override { --device_.places_out; }
  void begin_reading(std::size_t bytes) noexcept override { wanted_ = bytes; }
  base::Status next_piece(std::span<const std::byte>& piece) noexcept override {
    if (device_.failure.failed()) return device_.failure;
    if (!device_.is_ready) return base::Code::again;
    piece = std::span<const std::byte>(memory).subspan(sent_, std::min(device_.piece_bytes, wanted_ - sent_));
    last_ = piece.size();
    return {};
  }
  void piece_sent() noexcept override { sent_ += last_; }
  void release() noexcept override {
    --device_.live;
    is_released = true;
  }

  std::vector<std::byte> memory;
  bool is_released = false;

 private:
  PretendDevice& device_;
  std::vector<std::byte> place_;
  std::size_t wanted_ = 0;
  std::size_t sent_ = 0;
  std::size_t last_ = 0;
};

// What both movers of a test know.
struct PretendDeviceBoard {
  enum class State : std::uint8_t { standing, taken, withdrawn };
  struct Offer {
    const PretendMemory* memory;
    State state = State::standing;
  };
  std::vector<Offer> offers;
};

// A device mover between messengers of one thread. Each offer needs a note, which has its number.
class PretendDeviceMover final : public DeviceMover {
 public:
  using State = PretendDeviceBoard::State;

  explicit PretendDeviceMover(PretendDeviceBoard& board) : board_(board) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "pretend"; }
  [[nodiscard]] std::string describe() const override { return "pretend"; }

  std::optional<Exposure> expose_device(DeviceMemory& memory) noexcept override {
    if (exposes_nothing) return std::nullopt;
    const std::uint64_t number = board_.offers.size();
    board_.offers.push_back({static_cast<PretendMemory*>(&memory)});
    notes_.emplace_back();
    std::memcpy(notes_.back().data(), &number, sizeof(number));
    Exposure exposure;
    std::memcpy(exposure.key.bytes.data(), &number, sizeof(number));
    exposure.handle = number + 1;
    return exposure;
  }
  bool withdraw(std::uint64_t handle) noexcept override {
    auto& offer = board_.offers[handle - 1];
    if (offer.state == State::standing) offer.state = State::withdrawn;
    return offer.state == State::withdrawn;
  }
  void note_pulled(std::uint64_t handle) noexcept override {
    wrong |= board_.offers[handle - 1].state != State::taken;
  }
  base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into, std::size_t bytes) noexcept override {
    std::uint64_t number = 0;
    std::memcpy(&number, key.bytes.data(), sizeof(number));
    wrong |= !known_.contains(number);
    if (cannot_pull) return base::Code::unreachable;
    auto& offer = board_.offers[number];
    if (offer.state != State::standing) return base::Code::cancelled;
    offer.state = State::taken;
    return into.write(0, std::span<const std::byte>(offer.memory->memory).first(bytes));
  }
  std::span<const std::byte> next_note() noexcept override {
    return notes_.empty() ? std::span<const std::byte>() : std::span<const std::byte>(notes_.front());
  }
  void note_sent() noexcept override { notes_.pop_front(); }
  bool take_note(std::span<const std::byte> note) noexcept override {
    std::uint64_t number = 0;
    if (note.size() != sizeof(number)) return false;
    std::memcpy(&number, note.data(), sizeof(number));
    known_[number] = true;
    return true;
  }
  void end() noexcept override { has_ended = true; }

  bool exposes_nothing = false;
  bool cannot_pull = false;
  bool has_ended = false;
  bool wrong = false;  // told of a pull that never was, or shown a key without its note

 private:
  PretendDeviceBoard& board_;
  std::deque<std::array<std::byte, sizeof(std::uint64_t)>> notes_;
  std::map<std::uint64_t, bool> known_;
};

}  // namespace parley::transport
