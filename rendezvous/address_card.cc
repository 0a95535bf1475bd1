#include "rendezvous/address_card.h"

#include <cstring>

namespace parley::rendezvous {
namespace {
constexpr std::uint16_t card_version = 5;
}  // namespace

base::Bytes encode(const AddressCard& card) {
  base::WireWriter writer;
  writer.put(card_version)
      .put_string(card.host)
      .put_string(card.host_id)
      .put(card.pid)
      .put_string(card.tcp_address)
      .put_string(card.shm_address);
  writer.put_bytes(std::as_bytes(std::span(card.cores)))
      .put_string(card.start)
      .put_string(card.pid_namespace)
      .put(card.algorithms);
  writer.put(static_cast<std::uint32_t>(card.quotas.size()));
  for (const base::CpuQuota& quota : card.quotas) writer.put_string(quota.group).put(quota.millicores);
  return std::move(writer).bytes();
}

std::optional<AddressCard> decode_card(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  if (reader.get<std::uint16_t>() != card_version) return std::nullopt;
  const auto host = reader.get_string();
  const auto host_id = reader.get_string();
  const auto pid = reader.get<std::int64_t>();
  const auto tcp_address = reader.get_string();
  const auto shm_address = reader.get_string();
  const auto cores = reader.get_bytes();
  const auto start = reader.get_string();
  const auto pid_namespace = reader.get_string();
  const auto algorithms = reader.get<std::uint64_t>();
  std::vector<base::CpuQuota> quotas;
  for (std::uint32_t left = reader.get<std::uint32_t>().value_or(0); left > 0; --left) {
    auto group = reader.get_string();
    const auto millicores = reader.get<std::uint32_t>();
    if (!millicores) return std::nullopt;
    quotas.push_back({*std::move(group), *millicores});
  }
  if (!reader.finished() || cores->size() % sizeof(std::uint16_t) != 0) return std::nullopt;
  AddressCard card{*host, *host_id, *pid,           *tcp_address,      *shm_address,
                   {},    *start,   *pid_namespace, std::move(quotas), *algorithms};
  card.cores.resize(cores->size() / sizeof(std::uint16_t));
  if (!card.cores.empty()) std::memcpy(card.cores.data(), cores->data(), cores->size());
  return card;
}

}  // namespace parley::rendezvous
