#include "transport/cuda_ipc/ipc_mover.h"

#include <cstring>
#include <new>
#include <utility>

#include "transport/cuda_ipc/transfer.h"

namespace parley::transport::cuda_ipc {

using base::Status;
using cuda::Code;

namespace {

Key parse(const RemoteKey& bytes) noexcept {
  Key key;
  static_assert(sizeof(key) == sizeof(bytes));
  std::memcpy(&key, bytes.bytes.data(), sizeof(key));
  return key;
}

cuda::Api::EventUse use_of(const OfferLedger* ledger) noexcept {
  return ledger == nullptr ? cuda::Api::EventUse::within_process : cuda::Api::EventUse::between_processes;
}

}  // namespace

IpcMover::IpcMover(Port& port, OfferLedger* ledger)
    : port_(port),
      ledger_(ledger),
      slots_(std::make_shared<EventSlots>(port, use_of(ledger))),
      exports_(port),
      peer_(std::make_unique<PeerView>(port)) {}

IpcMover::~IpcMover() = default;

std::string IpcMover::describe() const {
  return ledger_ == nullptr ? "device memory by device copies" : "device memory by CUDA IPC";
}

std::optional<Exposure> IpcMover::expose_device(DeviceMemory& memory) noexcept try {
  auto& transfer = static_cast<Transfer&>(memory);
  cuda::Api& api = *port_.api();
  const cuda::DeviceScope scope(api, transfer.device());
  transfer.let_go();  // it was exposed before, and did not leave
  Slot* const slot = slots_->take(transfer.device(), transfer.stream());
  if (slot == nullptr) return std::nullopt;
  transfer.hold(slots_, *slot);
  Key key;
  key.slot = slots_->index_of(*slot);
  const bool is_shown = (slot->is_announced || announce(*slot)) && show(transfer, *slot, key) &&
                        api.record(slot->ready, transfer.stream()) == Code::ok;
  const auto ticket = !is_shown            ? std::nullopt
                      : ledger_ == nullptr ? std::optional(OfferTicket())
                                           : ledger_->open_offer();
  if (!ticket) {
    transfer.let_go();
    return std::nullopt;
  }
  slot->state = Slot::State::offered;
  slot->stream = transfer.stream();
  slot->ticket = *ticket;
  key.ticket_word = ticket->word;
  key.ticket_generation = ticket->generation;
  Exposure exposure;
  std::memcpy(exposure.key.bytes.data(), &key, sizeof(key));
  exposure.handle = key.slot + 1;
  return exposure;
} catch (const std::bad_alloc&) {
  static_cast<Transfer&>(memory).let_go();
  return std::nullopt;
}

// The peer can wait for the slot's events. A slot that it was not told of is not used.
bool IpcMover::announce(Slot& slot) {
  slot.is_announced = ledger_ == nullptr;
  if (slot.is_announced) return true;
  cuda::Api& api = *port_.api();
  SlotNote note;
  note.number = slots_->index_of(slot);
  if (api.device_id(slot.device, note.device) != Code::ok ||
      api.export_event(slot.ready, note.ready) != Code::ok ||
      api.export_event(slot.finished, note.finished) != Code::ok)
    return false;
  notes_.emplace_back(note);
  return slot.is_announced = true;
}

// Has the key name the memory, or a copy of it where it cannot be shown.
bool IpcMover::show(const Transfer& transfer, Slot& slot, Key& key) {
  if (ledger_ == nullptr) {
    key.offset = reinterpret_cast<std::uintptr_t>(transfer.address());
    return true;
  }
  cuda::Api& api = *port_.api();
  const std::byte* shown = transfer.address();
  cuda::PointerFacts facts;
  if (api.facts_of(shown, facts) != Code::ok) return false;
  if (!facts.can_be_exported) {
    slot.block = port_.desk(transfer.device())->blocks.take(transfer.bytes(), transfer.stream());
    shown = slot.block.memory;
    if (shown == nullptr || api.facts_of(shown, facts) != Code::ok ||
        api.copy(slot.block.memory, transfer.address(), transfer.bytes(), transfer.stream()) != Code::ok)
      return false;
  }
  const auto number = exports_.number_of(facts, notes_);
  if (!number) return false;
  key.memory = *number;
  key.offset = static_cast<std::uint64_t>(shown - facts.base);
  return true;
}

bool IpcMover::withdraw(std::uint64_t handle) noexcept {
  Slot& slot = *slots_->at(static_cast<std::uint32_t>(handle - 1));
  if (slot.state != Slot::State::offered) return false;
  const bool is_withdrawn = ledger_ == nullptr || ledger_->withdraw_offer(slot.ticket);
  slot.state = is_withdrawn ? Slot::State::held : Slot::State::taken;
  return is_withdrawn;
}

void IpcMover::note_pulled(std::uint64_t handle) noexcept {
  Slot& slot = *slots_->at(static_cast<std::uint32_t>(handle - 1));
  if (slot.state == Slot::State::offered && ledger_ != nullptr) ledger_->note_offer_taken(slot.ticket);
  slot.state = Slot::State::pulled;
}

std::optional<PeerView::Source> IpcMover::source_of(const Key& key, std::size_t bytes) noexcept {
  if (ledger_ != nullptr) return peer_->find(key, bytes);
  const Slot* const slot = slots_->at(key.slot);
  if (slot == nullptr) return std::nullopt;
  const auto* const data = reinterpret_cast<const std::byte*>(key.offset);
  return PeerView::Source{data, slot->device, slot->ready, slot->finished};
}

Status IpcMover::pull_to_device(const RemoteKey& bytes_of_key, DeviceMemory& into,
                                std::size_t bytes) noexcept {
  auto& transfer = static_cast<Transfer&>(into);
  const Key key = parse(bytes_of_key);
  const auto source = source_of(key, bytes);
  if (!source) return base::Code::unreachable;
  if (ledger_ != nullptr && !ledger_->take_offer({key.ticket_word, key.ticket_generation}))
    return base::Code::cancelled;
  const Code code = transfer.pull(source->data, bytes, source->device, source->ready, source->finished);
  if (ledger_ != nullptr) peer_->note_read(key);  // a copy may be on its way also where it failed
  return status_of(code);
}

bool IpcMover::is_idle() const noexcept {
  return peer_ == nullptr || (slots_->are_reached() && peer_->is_unread());
}

std::span<const std::byte> IpcMover::next_note() noexcept {
  return notes_.empty() ? std::span<const std::byte>() : notes_.front().view();
}

bool IpcMover::take_note(std::span<const std::byte> note) noexcept try {
  return ledger_ != nullptr && peer_->take(note);
} catch (const std::bad_alloc&) {
  return true;  // what it told of cannot be found, and goes by way of the host
}

void IpcMover::end() noexcept {
  port_.retire(std::move(peer_));
}

}  // namespace parley::transport::cuda_ipc
