#include "api/collective/end_reason.h"

#include "transport/base/log.h"

namespace parley::collective {
namespace {

// No user's reason begins like this by chance.
constexpr std::string_view mark = "\x01parley:";

}  // namespace

std::string EndReason::encoded() const noexcept {
  if (kind == Kind::aborted) return words([this] { return std::string(text); });
  // The first two lie in the string itself.
  std::string reason(mark);
  reason += static_cast<char>(kind);
  try {
    reason += text;
  } catch (const std::bad_alloc&) {
    // It stays without.
  }
  return reason;
}

EndReason EndReason::decode(std::string_view reason) noexcept {
  if (!reason.starts_with(mark) || reason.size() == mark.size()) return {Kind::aborted, reason};
  const auto kind = static_cast<Kind>(reason[mark.size()]);
  const std::string_view text = reason.substr(mark.size() + 1);
  switch (kind) {
    case Kind::mismatched:
    case Kind::died:
    case Kind::left:
    case Kind::timed_out: return {kind, text};
    case Kind::aborted: break;
  }
  return {Kind::aborted, text};
}

}  // namespace parley::collective
