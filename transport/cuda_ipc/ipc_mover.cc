#include "transport/cuda_ipc/ipc_mover.h"

#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "transport/base/log.h"

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

}  // namespace

IpcMover::IpcMover(Port& port, OfferLedger& ledger, Copies copies)
    : port_(port),
      ledger_(ledger),
      is_within_process_(ledger.is_within_process()),
      copies_(copies),
      slots_(std::make_shared<Slots>(port, std::make_shared<Semaphores>(port, ledger.own_words()))),
      exports_(port),
      peer_(std::make_unique<PeerView>(port, std::make_shared<Semaphores>(port, ledger.peer_words()))) {}

IpcMover::~IpcMover() {
  end_watch();
}

// From the first use of words on the peer's process is watched.
bool IpcMover::open(Semaphores& semaphores, int device) noexcept {
  if (!semaphores.open(device)) return false;
  if (std::exchange(is_watched_, true)) return true;
  try {
    base::UniqueFd end = ledger_.end_of_peer();
    if (end) watch_ = port_.life_watch().add(std::move(end), ledger_.own_words(), ledger_.peer_words());
  } catch (const std::exception& error) {
    PARLEY_LOG(info, "cuda", "a rank of this host is not watched: ", error.what(),
               "; if it dies streams that wait for it go on when its link ends");
  }
  return true;
}

void IpcMover::end_watch() noexcept {
  if (const auto number = std::exchange(watch_, 0); number != 0) port_.life_watch().remove(number);
}

std::string IpcMover::describe() const {
  return is_within_process_ ? "device memory by device copies" : "device memory by CUDA IPC";
}

std::optional<Exposure> IpcMover::expose_device(DeviceMemory& memory) noexcept {
  const auto& transfer = static_cast<const Transfer&>(memory);
  if (copies_ == Copies::by_us && peer_ != nullptr && peer_->shows_memory_of(transfer.device())) {
    const Key key{.slot = Key::no_slot};
    Exposure exposure;
    std::memcpy(exposure.key.bytes.data(), &key, sizeof(key));
    return exposure;
  }
  return offer(static_cast<Transfer&>(memory), transfer.bytes(), Use::to_be_read);
}

std::optional<Exposure> IpcMover::expose_place(DeviceMemory& memory, std::size_t bytes) noexcept {
  return offer(static_cast<Transfer&>(memory), bytes, Use::to_be_written);
}

std::optional<Exposure> IpcMover::offer(Transfer& transfer, std::size_t bytes, Use use) noexcept try {
  const cuda::DeviceScope scope(*port_.api(), transfer.device());
  transfer.let_go();  // it was exposed before, and did not leave
  if (!open(slots_->semaphores(), transfer.device())) return std::nullopt;
  Slot* const slot = slots_->take(transfer.device(), transfer.stream());
  if (slot == nullptr) return std::nullopt;
  transfer.hold(slots_, *slot);
  Key key;
  key.slot = slot->number;
  const bool is_shown = show(transfer, bytes, use, *slot, key) &&
                        slots_->semaphores().signal_early(transfer.stream(), ready_of(key.slot)) == Code::ok;
  const auto ticket = is_shown ? ledger_.open_offer() : std::nullopt;
  if (!ticket) {
    transfer.let_go();
    return std::nullopt;
  }
  slot->state = Slot::State::offered;
  slot->ticket = *ticket;
  key.ticket_word = ticket->word;
  key.ticket_generation = ticket->generation;
  std::memcpy(slot->key.bytes.data(), &key, sizeof(key));
  return Exposure{slot->key, std::uint64_t{key.slot} + 1};
} catch (const std::bad_alloc&) {
  transfer.let_go();
  return std::nullopt;
}

RemoteKey IpcMover::key_of(std::uint64_t handle) const noexcept {
  return slots_->at(static_cast<std::uint32_t>(handle - 1))->key;
}

// Has the key name the memory; where it cannot be shown, a block: to be read a copy of it, to be written for
// Transfer::land().
bool IpcMover::show(const Transfer& transfer, std::size_t bytes, Use use, Slot& slot, Key& key) {
  if (is_within_process_) {
    key.memory = static_cast<std::uint32_t>(transfer.device());
    key.offset = reinterpret_cast<std::uintptr_t>(transfer.address());
    return true;
  }
  cuda::Api& api = *port_.api();
  const std::byte* shown = transfer.address();
  cuda::PointerFacts facts;
  if (api.facts_of(shown, facts) != Code::ok) return false;
  if (!facts.can_be_exported) {
    slot.block = port_.desk(transfer.device())->blocks.take(bytes, transfer.stream());
    shown = slot.block.memory;
    if (shown == nullptr || api.facts_of(shown, facts) != Code::ok) return false;
    if (use == Use::to_be_read &&
        api.copy(slot.block.memory, transfer.address(), bytes, transfer.stream()) != Code::ok)
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
  const bool is_withdrawn = ledger_.withdraw_offer(slot.ticket);
  slot.state = is_withdrawn ? Slot::State::held : Slot::State::taken;
  return is_withdrawn;
}

void IpcMover::note_pulled(std::uint64_t handle) noexcept {
  Slot& slot = *slots_->at(static_cast<std::uint32_t>(handle - 1));
  if (slot.state == Slot::State::offered) ledger_.note_offer_taken(slot.ticket);
  slot.state = Slot::State::copied;
}

Status IpcMover::note_pushed(std::uint64_t handle, DeviceMemory& into, std::size_t bytes) noexcept {
  note_pulled(handle);
  return status_of(static_cast<Transfer&>(into).land(bytes));
}

Status IpcMover::pull_to_device(const RemoteKey& key, DeviceMemory& into, std::size_t bytes) noexcept {
  return copy(Transfer::Direction::from_peer, key, static_cast<Transfer&>(into), bytes);
}

bool IpcMover::leaves_copy_to_peer(const RemoteKey& key, const DeviceMemory& into) const noexcept {
  const Key parsed = parse(key);
  if (parsed.slot == Key::no_slot) return true;
  return copies_ == Copies::by_peer && peer_ != nullptr &&
         peer_->is_of(parsed, static_cast<const Transfer&>(into).device());
}

Status IpcMover::push_from_device(const RemoteKey& key, DeviceMemory& from, std::size_t bytes) noexcept {
  return copy(Transfer::Direction::to_peer, key, static_cast<Transfer&>(from), bytes);
}

Status IpcMover::copy(Transfer::Direction direction, const RemoteKey& bytes_of_key, Transfer& transfer,
                      std::size_t bytes) noexcept {
  const Key key = parse(bytes_of_key);
  std::byte* const place = find(key, transfer, bytes);
  const cuda::DeviceScope scope(*port_.api(), transfer.device());
  Semaphores& semaphores = *peer_->semaphores();
  if (place == nullptr || !open(semaphores, transfer.device())) return base::Code::unreachable;
  semaphores.promise(finished_of(key.slot));
  const OfferTicket ticket{key.ticket_word, key.ticket_generation};
  if (!ledger_.take_offer(ticket)) {
    semaphores.take_back(finished_of(key.slot));
    return base::Code::cancelled;
  }
  const Code code = transfer.copy(direction, place, bytes, semaphores, key.slot);
  ledger_.note_copy_told(ticket);
  peer_->note_use(key, transfer.device(), transfer.stream());  // it may be on its way also where it failed
  return status_of(code);
}

// The bytes that a key of the peer's names. Null: they cannot be reached; of a process's own that is so of
// memory of another device that only its own may reach (stream-ordered pools).
std::byte* IpcMover::find(const Key& key, const Transfer& transfer, std::size_t bytes) noexcept {
  if (is_within_process_) {
    auto* const data = reinterpret_cast<std::byte*>(key.offset);
    cuda::PointerFacts facts;
    const auto owner = static_cast<int>(key.memory);
    const bool is_reached = owner == transfer.device() ||
                            (port_.api()->facts_of(data, facts) == Code::ok && facts.can_be_exported);
    if (!is_reached || key.slot >= Slots::most) return nullptr;
    if (owner != transfer.device()) connect(transfer.device(), owner);
    return data;
  }
  return peer_->find(key, bytes, transfer.device());
}

// So that copies between two devices of this process take the straight way; where there is none, they take
// another.
void IpcMover::connect(int device, int other) noexcept {
  if (std::exchange(connected_, {device, other}) == std::pair(device, other)) return;
  const cuda::DeviceScope scope(*port_.api(), device);
  (void)port_.api()->reach_device(other);
}

bool IpcMover::is_idle() const noexcept {
  return slots_->are_passed() && (peer_ != nullptr ? peer_->is_unused() : left_ == nullptr);
}

std::span<const std::byte> IpcMover::next_note() noexcept {
  return notes_.empty() ? std::span<const std::byte>() : notes_.front().view();
}

bool IpcMover::take_note(std::span<const std::byte> note) noexcept try {
  return peer_ != nullptr && peer_->take(note);
} catch (const std::bad_alloc&) {
  return true;  // what it told of cannot be found, and goes by way of the host
}

// A peer of this process is gone as a rank, and its streams give all that they were told to: until then their
// copies run.
void IpcMover::release_waiters() noexcept {
  if (!is_within_process_) give_up_waiting();
}

void IpcMover::give_up_waiting() noexcept {
  is_peer_gone_ = true;
  slots_->semaphores().release_all();
  if (peer_ != nullptr) peer_->semaphores()->release_all();
  if (left_ != nullptr) left_->release_all();
}

void IpcMover::end() noexcept {
  if (peer_ == nullptr) return;
  left_ = peer_->semaphores();
  port_.retire(std::move(peer_));
}

bool IpcMover::look_after_end() noexcept {
  if (left_ == nullptr) return true;
  if (is_peer_gone_) give_up_waiting();
  port_.sweep();
  if (!slots_->are_passed() || left_.use_count() != 1) return false;  // a PeerView that is in use has it, too
  left_.reset();
  end_watch();
  return true;
}

}  // namespace parley::transport::cuda_ipc
