#include "api/collective/history.h"

#include <cassert>
#include <new>

#include "api/collective/end_reason.h"
#include "transport/base/log.h"
#include "transport/base/read_alone.h"

namespace parley::collective {

[[gnu::hot]] std::int64_t History::begin(const Signature& signature, std::uint64_t packed) noexcept {
  assert(packed == signature.packed());
  const std::int64_t sequence = next_;
  next_ = (next_ + 1) & sequence_mask;
  Entry& entry = entry_of(sequence);
  // Member by member, as the caller has just written them: base::read_alone().
  entry.packed = packed;
  entry.root = base::read_alone(signature.root);
  entry.count = signature.count ? std::optional(base::read_alone(*signature.count)) : std::nullopt;
  entry.has_ended = false;
  return sequence;
}

[[gnu::hot]] const transport::Unexpected* History::find_stray(
    transport::Messenger& messenger) const noexcept {
  return messenger.find_among_oldest([&](const transport::Unexpected& message) {
    const transport::Envelope& envelope = message.envelope;
    if (envelope.context != context_ || !is_recent(envelope.tag)) return false;
    const Entry& own = recent_[place_of(envelope.tag)];
    return own.has_ended || own.packed != envelope.note;
  });
}

void History::abort_for(const transport::Unexpected& stray, transport::Messenger& messenger) const {
  const transport::Envelope& envelope = stray.envelope;
  const Entry& entry = recent_[place_of(envelope.tag)];
  Signature own = unpacked(entry.packed);
  own.root = entry.root;
  own.count = entry.count;
  const std::uint32_t self = messenger.options().self;
  const std::string text =
      base::concat("rank ", envelope.source, " has called ", describe_other(envelope.note, entry.packed),
                   ", rank ", self, " ", describe(own), " (call ", envelope.tag, " of the group)");
  const EndReason reason{EndReason::Kind::mismatched, text};
  if (!messenger.abort_context(context_, self, reason.encoded(), transport::AbortManner::gentle))
    throw std::bad_alloc();
}

}  // namespace parley::collective
