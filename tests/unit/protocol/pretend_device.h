#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <functional>
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
  void begin_reading(std::size_t bytes, int) noexcept override {
    wanted_ = bytes;
    is_read = true;
  }
  base::Status next_piece(std::span<const std::byte>& piece) noexcept override {
    if (device_.failure.failed()) return device_.failure;
    if (!device_.is_ready) return base::Code::again;
    piece = std::span<const std::byte>(memory).subspan(sent_, std::min(device_.piece_bytes, wanted_ - sent_));
    last_ = piece.size();
    return {};
  }
  void piece_sent() noexcept override { sent_ += last_; }
  void end_reading() noexcept override { is_read = false; }
  void release() noexcept override {
    --device_.live;
    is_released = true;
    if (on_release) on_release();
  }

  std::vector<std::byte> memory;
  bool is_released = false;
  bool is_read = false;  // piece by piece, at this moment
  std::function<void()> on_release;

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
    PretendMemory* memory;
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
    if (only_pushes) return Exposure{key_to(nothing_shown)};
    return exposes_nothing ? std::nullopt : std::optional(show(memory));
  }
  std::optional<Exposure> expose_place(DeviceMemory& memory, std::size_t) noexcept override {
    return exposes_no_place ? std::nullopt : std::optional(show(memory));
  }
  RemoteKey key_of(std::uint64_t handle) const noexcept override { return key_to(handle - 1); }
  bool withdraw(std::uint64_t handle) noexcept override {
    auto& offer = board_.offers[handle - 1];
    if (offer.state == State::standing) offer.state = State::withdrawn;
    return offer.state == State::withdrawn;
  }
  void note_pulled(std::uint64_t handle) noexcept override {
    wrong |= board_.offers[handle - 1].state != State::taken;
  }
  base::Status note_pushed(std::uint64_t handle, DeviceMemory&, std::size_t) noexcept override {
    note_pulled(handle);
    return land_failure;
  }
  base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into, std::size_t bytes) noexcept override {
    PretendMemory* memory = nullptr;
    const base::Status status = take(key, memory);
    if (!status.ok()) return status;
    return into.write(0, std::span<const std::byte>(memory->memory).first(bytes));
  }
  bool leaves_copy_to_peer(const RemoteKey&, const DeviceMemory&) const noexcept override {
    return wants_pushes;
  }
  base::Status push_from_device(const RemoteKey& key, DeviceMemory& from,
                                std::size_t bytes) noexcept override {
    PretendMemory* memory = nullptr;
    const base::Status status = take(key, memory);
    if (!status.ok()) return status;
    return memory->write(0,
                         std::span<const std::byte>(static_cast<PretendMemory&>(from).memory).first(bytes));
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
  void release_waiters() noexcept override { peer_is_gone = true; }
  void end() noexcept override { has_ended = true; }
  bool look_after_end() noexcept override { return ++looks_after_end >= looks_wanted; }

  bool exposes_nothing = false;
  bool exposes_no_place = false;
  bool only_pushes = false;   // what it sends
  bool wants_pushes = false;  // what it receives
  bool peer_is_gone = false;
  int looks_after_end = 0, looks_wanted = 1;
  base::Status land_failure;
  bool cannot_copy = false;
  bool has_ended = false;
  bool wrong = false;  // told of a copy that never was, or shown a key without its note

 private:
  static constexpr std::uint64_t nothing_shown = ~std::uint64_t{0};
  static RemoteKey key_to(std::uint64_t number) noexcept {
    RemoteKey key;
    std::memcpy(key.bytes.data(), &number, sizeof(number));
    return key;
  }
  Exposure show(DeviceMemory& memory) {
    const std::uint64_t number = board_.offers.size();
    board_.offers.push_back({static_cast<PretendMemory*>(&memory)});
    notes_.emplace_back();
    std::memcpy(notes_.back().data(), &number, sizeof(number));
    return {key_to(number), number + 1};
  }
  base::Status take(const RemoteKey& key, PretendMemory*& memory) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, key.bytes.data(), sizeof(number));
    wrong |= !known_.contains(number);
    if (cannot_copy) return base::Code::unreachable;
    auto& offer = board_.offers[number];
    if (offer.state != State::standing) return base::Code::cancelled;
    offer.state = State::taken;
    memory = offer.memory;
    return {};
  }

  PretendDeviceBoard& board_;
  std::deque<std::array<std::byte, sizeof(std::uint64_t)>> notes_;
  std::map<std::uint64_t, bool> known_;
};

}  // namespace parley::transport
