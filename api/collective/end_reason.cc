#include "api/collective/end_reason.h"

#include "transport/base/log.h"

namespace parley::collective {
namespace {

// No user's reason begins like this by chance.
constexpr std::string_view mark = "\x01parley:";

}  // namespace

std::string EndReason::encoded() const {
  if (kind == Kind::aborted) return std::string(text);
  return base::concat(mark, std::string(1, static_cast<char>(kind)), text);
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
