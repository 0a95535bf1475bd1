#include "api/collective/history.h"

#include <new>
#include <optional>

#include "api/collective/end_reason.h"
#include "transport/base/log.h"
#include "transport/base/read_alone.h"

namespace parley::collective {
namespace {

// Member by member, as the caller has just written them: base::read_alone().
[[gnu::hot]] void copy_alone(Signature& to, const Signature& from) noexcept {
  // So that a further member is not forgotten here.
  const auto& [operation, dtype, reduction, root, count, counts_hash, rank_order, commutative, is_of_objects,
               is_on_devices, is_meeting, is_split] = from;
  to.operation = base::read_alone(operation);
  to.dtype = base::read_alone(dtype);
  to.reduction = reduction ? std::optional(base::read_alone(*reduction)) : std::nullopt;
  to.root = base::read_alone(root);
  to.count = count ? std::optional(base::read_alone(*count)) : std::nullopt;
  to.counts_hash = base::read_alone(counts_hash);
  to.rank_order = base::read_alone(rank_order);
  to.commutative = base::read_alone(commutative);
  to.is_of_objects = base::read_alone(is_of_objects);
  to.is_on_devices = base::read_alone(is_on_devices);
  to.is_meeting = base::read_alone(is_meeting);
  to.is_split = base::read_alone(is_split);
}

}  // namespace

[[gnu::hot]] std::int64_t History::begin(const Signature& signature) noexcept {
  const std::int64_t sequence = next_;
  next_ = (next_ + 1) & sequence_mask;
  Entry& entry = entry_of(sequence);
  copy_alone(entry.signature, signature);
  entry.has_ended = false;
  return sequence;
}

[[gnu::hot]] const transport::Unexpected* History::find_stray(
    transport::Messenger& messenger) const noexcept {
  return messenger.find_among_oldest([&](const transport::Unexpected& message) {
    const transport::Envelope& envelope = message.envelope;
    if (envelope.context != context_ || !is_recent(envelope.tag)) return false;
    const Entry& own = recent_[place_of(envelope.tag)];
    return own.has_ended || own.signature.packed() != envelope.note;
  });
}

void History::abort_for(const transport::Unexpected& stray, transport::Messenger& messenger) const {
  const transport::Envelope& envelope = stray.envelope;
  const Signature& own = recent_[place_of(envelope.tag)].signature;
  const std::uint32_t self = messenger.options().self;
  const std::string text =
      base::concat("rank ", envelope.source, " has called ", describe_other(envelope.note, own), ", rank ",
                   self, " ", describe(own), " (call ", envelope.tag, " of the group)");
  const EndReason reason{EndReason::Kind::mismatched, text};
  if (!messenger.abort_context(context_, self, reason.encoded(), transport::AbortManner::gentle))
    throw std::bad_alloc();
}

}  // namespace parley::collective
