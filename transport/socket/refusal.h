#pragma once

#include <optional>
#include <string>

#include "transport/socket/handshake_messages.h"

namespace parley::socket {

// What one end of a handshake is known to be. Fields not known keep their default.
struct Facts {
  std::uint16_t version = protocol_version;
  KeyId key_id{};
  std::optional<Purpose> purpose = std::nullopt;
  ProcessNumber process = any_process;  // dialler: the process it wants to reach; listener: what it is
  JobId job{};
  bool encrypts = false;
};

// Why a handshake failed, and what each end said about itself.
struct Refusal {
  Reason reason = Reason::none;
  Facts dialler;
  Facts listener;
};

// One sentence that names both sides' facts and what to do, without a stop and without any byte chosen by a
// stranger but versions and key ids.
[[nodiscard]] std::string explain(const Refusal& refusal);

[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace parley::socket
