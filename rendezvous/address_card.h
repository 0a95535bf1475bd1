#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/base/cpu_quota.h"
#include "transport/base/wire.h"

namespace parley::rendezvous {

// How a process can be reached, and what people call it; published in the store by every rank.
struct AddressCard {
  std::string host;     // name, for people
  std::string host_id;  // equal for processes of one host
  std::int64_t pid = 0;
  std::string tcp_address;                  // of its data listener; opaque here; empty: none
  std::string shm_address = {};             // the same for processes of its host
  std::vector<std::uint16_t> cores;         // it may run on
  std::string start = {};                   // with `pid`, tells it from all processes of its PID namespace
  std::string pid_namespace = {};           // where `pid` means something
  std::vector<base::CpuQuota> quotas = {};  // of the control groups that it is in
  std::uint64_t algorithms = 0;             // what its collectives were asked to go by, as a hash; 0: nothing
};

base::Bytes encode(const AddressCard& card);
// Nothing when the bytes are no card, or one of another version.
std::optional<AddressCard> decode_card(std::span<const std::byte> bytes);

}  // namespace parley::rendezvous
