#include "toy_transport.h"

#include <cstdlib>

namespace toy {
namespace {
constexpr std::string_view prefix = "toy+";
}  // namespace

std::string ToyTransport::address() const {
  return std::string(prefix) + inner_.address();
}

void ToyTransport::connect(transport::PeerId peer, std::string_view address, base::Deadline deadline) {
  const bool ours = address.substr(0, prefix.size()) == prefix;
  inner_.connect(peer, ours ? address.substr(prefix.size()) : "", deadline);
}

void ToyTransport::stop_accepting() noexcept {
  if (std::getenv("TOY_IS_BROKEN") == nullptr) inner_.stop_accepting();
}

}  // namespace toy
