#include "transport/shm/cross_memory_mover.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport {

using base::Code;
using base::Status;
using shm::CrossRead;
using shm::OfferToken;

namespace {

// Some 25 us: what others wait for at most between two pieces, and long beside what a call costs.
constexpr std::size_t piece_bytes = 256 << 10;

// Numbers of processes come again when all others (32 768 or more) were used: no host makes so many sooner.
constexpr auto soonest_reuse = std::chrono::milliseconds(1);

// As it travels.
struct Key {
  std::uint64_t address;
  OfferToken offer;
};
static_assert(sizeof(Key) <= sizeof(RemoteKey));

// Never 0.
std::uint64_t handle_of(OfferToken token) noexcept {
  return (std::uint64_t{token.generation} << 32) | (token.word + 1);
}
OfferToken token_of(std::uint64_t handle) noexcept {
  return {static_cast<std::uint32_t>(handle) - 1, static_cast<std::uint32_t>(handle >> 32)};
}

}  // namespace

CrossMemoryMover::CrossMemoryMover(shm::CrossMemoryTerms terms, int socket, int end_of_life,
                                   PullingList& pulling)
    : terms_(std::move(terms)), socket_(socket), end_of_life_(end_of_life), pulling_(pulling) {
  if (terms_.peer_reads == CrossRead::works)
    own_offers_.emplace(terms_.own_board.data());
  else
    terms_.own_board = {};
  if (terms_.we_read == CrossRead::works)
    peer_offers_.emplace(terms_.peer_board.data());
  else
    terms_.peer_board = {};
}

CrossMemoryMover::~CrossMemoryMover() {
  while (Pull* pull = pulls_.front()) drop(*pull);
}

std::string CrossMemoryMover::describe() const {
  const CrossRead out = terms_.peer_reads, in = terms_.we_read;
  if (out == CrossRead::works && in == CrossRead::works) return "cma";
  if (out == CrossRead::works) return "cma one way: we cannot read its memory: " + shm::why_not(in);
  if (in == CrossRead::works) return "cma one way: it cannot read our memory: " + shm::why_not(out);
  return "no cma: " + shm::why_not(std::max(in, out));
}

std::optional<Exposure> CrossMemoryMover::expose(base::ConstMemoryRef memory) noexcept {
  if (!own_offers_) return std::nullopt;
  const auto token = own_offers_->open();
  if (!token) return std::nullopt;
  const Key key{reinterpret_cast<std::uintptr_t>(memory.data), *token};
  Exposure exposure;
  std::memcpy(exposure.key.bytes.data(), &key, sizeof(key));
  exposure.handle = handle_of(*token);
  return exposure;
}

bool CrossMemoryMover::withdraw(std::uint64_t handle) noexcept {
  return own_offers_->withdraw(token_of(handle));
}

void CrossMemoryMover::note_pulled(std::uint64_t handle) noexcept {
  own_offers_->note_taken(token_of(handle));
}

Status CrossMemoryMover::pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept {
  Key parsed{};
  std::memcpy(&parsed, key.bytes.data(), sizeof(parsed));
  if (!peer_offers_ || !shm::PeerOffers::is_valid(parsed.offer)) return Code::unreachable;
  try {
    pulls_.push_back(*pool_.create(parsed.address, parsed.offer, into, done));
  } catch (const std::bad_alloc&) {
    return Code::exhausted;
  }
  if (!PullingList::is_linked(*this)) pulling_.push_back(*this);
  return Code::in_progress;
}

void CrossMemoryMover::stop(Completion& done) noexcept {
  for (Pull* pull = pulls_.front(); pull != nullptr; pull = pulls_.next(*pull))
    if (pull->done == &done) return drop(*pull);
}

void CrossMemoryMover::drop(Pull& pull) noexcept {
  base::IntrusiveList<Pull, PullTag>::remove(pull);
  pool_.destroy(&pull);
  if (pulls_.empty()) PullingList::remove(*this);
}

void CrossMemoryMover::pull_a_piece() noexcept {
  Pull& pull = *pulls_.front();
  const Status status = read_a_piece(pull);
  if (status.code() == Code::in_progress) return;
  Completion* done = pull.done;
  drop(pull);
  done->fn(*done, status);  // may begin another pull, or end this link
}

Status CrossMemoryMover::read_a_piece(Pull& pull) noexcept {
  if (!peer_offers_) return Code::unreachable;
  const std::size_t bytes = std::min(pull.into.bytes, piece_bytes);
  const Status got = terms_.own->read(terms_.process, pull.address, {pull.into.data, bytes});
  if (!got.ok()) return explain(pull, got);
  pull.address += bytes;
  pull.into.data += bytes;
  pull.into.bytes -= bytes;
  return pull.into.bytes == 0 ? finish(pull) : Status(Code::in_progress);
}

Status CrossMemoryMover::finish(const Pull& pull) noexcept {
  if (!peer_offers_->take(pull.offer)) return Code::cancelled;
  // Its number may be that of another process by now; but not before its socket and its process have ended,
  // and if they have not, all that was read was the peer's. Nor a moment after they were there.
  const auto now = base::Clock::now();
  if (now - lived_at_ < soonest_reuse) return {};
  if (!peer_lives()) return Code::peer_died;
  lived_at_ = now;
  return {};
}

// Why a read has failed. A sender that has taken its offer back may have freed the buffer, and one that has
// died has none; else this pair goes by the link from now on.
Status CrossMemoryMover::explain(const Pull& pull, Status failure) noexcept {
  if (!peer_offers_->stands(pull.offer)) return Code::cancelled;
  if (failure.native() == ESRCH && !peer_lives()) return Code::peer_died;
  terms_.we_read = failure.native() == EPERM ? CrossRead::not_allowed : CrossRead::fails;
  PARLEY_LOG(warn, "shm", "the memory of process ", terms_.process, " cannot be read any more (",
             std::generic_category().message(failure.native()),
             "): large messages from it are copied twice from now on");
  peer_offers_.reset();
  return failure;
}

bool CrossMemoryMover::peer_lives() const noexcept {
  // One that is -1 is left out. There may be messages on the socket, so it is asked for its end alone.
  std::array<pollfd, 2> ends{{{socket_, POLLRDHUP, 0}, {end_of_life_, POLLIN, 0}}};
  return ::poll(ends.data(), ends.size(), 0) == 0;
}

}  // namespace parley::transport
