#include "api/collective/history.h"

#include <new>

#include "api/collective/end_reason.h"
#include "transport/base/log.h"

namespace parley::collective {
namespace {

// The numbers of calls fit beside a note in a tag, and begin again.
constexpr std::int64_t sequence_mask = (std::int64_t{1} << (63 - transport::note_bits)) - 1;

}  // namespace

std::int64_t History::begin(const Signature& signature) noexcept {
  const std::int64_t sequence = next_;
  next_ = (next_ + 1) & sequence_mask;
  entry_of(sequence) = {signature, false};
  return sequence;
}

// Whether it was one of the last calls; else it is one of those to come, which other ranks have begun.
bool History::is_recent(std::int64_t sequence) const noexcept {
  return ((next_ - 1 - sequence) & sequence_mask) < static_cast<std::int64_t>(kept);
}

void History::look_for_strays(transport::Messenger& messenger) const {
  const auto* stray = messenger.find_among_oldest([&](const transport::Unexpected& message) {
    const transport::Envelope& envelope = message.envelope;
    if (envelope.context != context_ || !is_recent(envelope.tag)) return false;
    const Entry& own = recent_[place_of(envelope.tag)];
    return own.has_ended || own.signature.packed() != envelope.note;
  });
  if (stray == nullptr) return;
  const transport::Envelope& envelope = stray->envelope;
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
