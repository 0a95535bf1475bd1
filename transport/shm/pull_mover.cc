#include "transport/shm/pull_mover.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "transport/base/copy_bulk.h"

namespace parley::transport {

using base::Code;
using base::Status;
using shm::CrossRead;
using shm::OfferToken;

namespace {

// Read at once, where it is matched: a visit to a link may well find as many of these as others wait for.
constexpr std::size_t short_bytes = 32 << 10;

// Where the sender's buffer is to be read.
enum class Where : std::uint32_t {
  process = 0,  // at an address of the sender's
  arena = 1,    // at an offset of a segment of its arena
};

// As it travels.
struct Key {
  std::uint64_t address_or_offset;
  OfferToken offer;
  Where where;
  std::uint32_t segment;  // of an arena
};
static_assert(sizeof(Key) == sizeof(RemoteKey));

// Never 0.
std::uint64_t handle_of(OfferToken token) noexcept {
  return (std::uint64_t{token.generation} << 32) | (token.word + 1);
}
OfferToken token_of(std::uint64_t handle) noexcept {
  return {static_cast<std::uint32_t>(handle) - 1, static_cast<std::uint32_t>(handle >> 32)};
}

}  // namespace

PullMover::PullMover(shm::PeerMemory& memory, shm::Boards boards, shm::ArenaExchange& arenas, int end_of_life,
                     ShmPulling& pulling)
    : memory_(memory),
      boards_(std::make_shared<const shm::Boards>(std::move(boards))),
      arenas_(arenas),
      end_of_life_(end_of_life),
      pulling_(pulling),
      own_offers_(boards_->own.data()),
      peer_offers_(boards_->peer.data()) {}

PullMover::~PullMover() {
  while (Pull* pull = pulls_.front()) drop(*pull);
}

std::string PullMover::describe() const {
  const CrossRead out = memory_.peer_reads(), in = memory_.we_read();
  const std::string arenas = arenas_.describe();
  if (out == CrossRead::works && in == CrossRead::works) return "cma" + arenas;
  if (out == CrossRead::works) return "cma one way: we cannot read its memory: " + shm::why_not(in) + arenas;
  if (in == CrossRead::works) return "cma one way: it cannot read our memory: " + shm::why_not(out) + arenas;
  return "no cma: " + shm::why_not(std::max(in, out)) + arenas;
}

std::optional<Exposure> PullMover::expose(base::ConstMemoryRef memory) noexcept {
  const std::optional<shm::ArenaPlace> place = arenas_.show(memory);
  if (!place && memory_.peer_reads() != CrossRead::works) return std::nullopt;
  const auto token = own_offers_.open();
  if (!token) return std::nullopt;
  Key key{reinterpret_cast<std::uintptr_t>(memory.data), *token, Where::process, 0};
  if (place) key = {place->offset, *token, Where::arena, place->segment};
  Exposure exposure;
  std::memcpy(exposure.key.bytes.data(), &key, sizeof(key));
  exposure.handle = handle_of(*token);
  return exposure;
}

bool PullMover::withdraw(std::uint64_t handle) noexcept {
  return own_offers_.withdraw(token_of(handle));
}

void PullMover::note_pulled(std::uint64_t handle) noexcept {
  own_offers_.note_taken(token_of(handle));
}

bool PullMover::outruns_links(const RemoteKey& key) const noexcept {
  Key parsed{};
  std::memcpy(&parsed, key.bytes.data(), sizeof(parsed));
  return parsed.where == Where::arena;
}

Status PullMover::pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept {
  Key parsed{};
  std::memcpy(&parsed, key.bytes.data(), sizeof(parsed));
  const std::byte* mapped = nullptr;
  if (parsed.where == Where::arena)
    mapped = arenas_.look({parsed.segment, parsed.address_or_offset}, into.bytes);
  const bool may_read = parsed.where == Where::process && memory_.we_read() == CrossRead::works;
  if (!shm::PeerOffers::is_valid(parsed.offer) || (mapped == nullptr && !may_read)) return Code::unreachable;
  // The sender's core may have it; while this one reads the message it comes here.
  peer_offers_.fetch_ahead(parsed.offer);
  if (into.bytes <= short_bytes && pulls_.empty()) {
    Pull pull(mapped, parsed.address_or_offset, parsed.offer, into, done);
    return read(pull, into.bytes);
  }
  try {
    pulls_.push_back(*pool_.create(mapped, parsed.address_or_offset, parsed.offer, into, done));
  } catch (const std::bad_alloc&) {
    return Code::exhausted;
  }
  if (into.bytes < turn_bytes) pulling_.begun_bytes += into.bytes;
  if (!PullingList::is_linked(*this)) pulling_.movers.push_back(*this);
  return Code::in_progress;
}

void PullMover::stop(Completion& done) noexcept {
  for (Pull* pull = pulls_.front(); pull != nullptr; pull = pulls_.next(*pull))
    if (pull->done == &done) return drop(*pull);
}

void PullMover::drop(Pull& pull) noexcept {
  base::IntrusiveList<Pull, PullTag>::remove(pull);
  pool_.destroy(&pull);
  if (pulls_.empty()) PullingList::remove(*this);
}

void PullMover::take_turn() noexcept {
  for (std::size_t left = turn_bytes; left != 0 && !pulls_.empty();) {
    Pull& pull = *pulls_.front();
    const std::size_t bytes = std::min(pull.into.bytes, left);
    const Status status = read(pull, bytes);
    if (status.code() == Code::in_progress) return;
    left -= bytes;
    Completion* done = pull.done;
    drop(pull);
    done->fn(*done, status);  // may begin another pull, or end this link
  }
}

Status PullMover::read(Pull& pull, std::size_t bytes) noexcept {
  if (pull.mapped != nullptr) {
    base::copy_bulk(pull.into.data, pull.mapped, bytes);
    pull.mapped += bytes;
  } else if (const Status status = copy_across(pull, bytes); !status.ok()) {
    return status;
  }
  pull.into.data += bytes;
  pull.into.bytes -= bytes;
  return pull.into.bytes == 0 ? finish(pull) : Status(Code::in_progress);
}

Status PullMover::copy_across(Pull& pull, std::size_t bytes) noexcept {
  if (memory_.we_read() != CrossRead::works) return Code::unreachable;
  const auto began = copies.begin(bytes);
  const Status got = memory_.read(pull.address, {pull.into.data, bytes});
  if (!got.ok()) return explain(pull, got);
  copies.end(began, bytes);
  pull.address += bytes;
  return {};
}

// The offer is taken last: its sender takes what is taken for received.
Status PullMover::finish(const Pull& pull) noexcept {
  // What we have mapped is the peer's, and whole, even if it has died.
  if (pull.mapped == nullptr && !memory_.was_the_peers()) return Code::peer_died;
  return peer_offers_.take(pull.offer) ? Status() : Status(Code::cancelled);
}

// Why a read has failed. A sender that has taken its offer back may have freed the buffer, and one that has
// died has none; else this pair goes by the link from now on.
Status PullMover::explain(const Pull& pull, Status failure) noexcept {
  if (!peer_offers_.stands(pull.offer)) return Code::cancelled;
  return memory_.give_up_on(failure);
}

base::UniqueFd PullMover::end_of_peer() noexcept {
  return base::UniqueFd(end_of_life_ < 0 ? -1 : ::fcntl(end_of_life_, F_DUPFD_CLOEXEC, 0));
}

}  // namespace parley::transport
