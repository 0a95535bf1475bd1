#include "api/wireup/listing.h"

#include <utility>

namespace parley::wireup {

base::Bytes encode(const Listing& listing) {
  base::WireWriter writer;
  writer.put(listing.edition).put_bytes(listing.topology.encode());
  writer.put(static_cast<std::uint32_t>(listing.cards.size()));
  for (const auto& card : listing.cards) writer.put_bytes(rendezvous::encode(card));
  const Complaint complaint = listing.complaint.value_or(Complaint{});
  writer.put(complaint.is_of_usage).put(complaint.culprit).put_string(complaint.text);
  return std::move(writer).bytes();
}

std::optional<Listing> decode_listing(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  Listing listing;
  listing.edition = reader.get<std::int64_t>().value_or(0);
  if (const auto topology = reader.get_bytes()) {
    auto decoded = Topology::decode(*topology);
    if (!decoded) return std::nullopt;
    listing.topology = *std::move(decoded);
  }
  for (auto left = reader.get<std::uint32_t>().value_or(0); left > 0; --left) {
    const auto card = reader.get_bytes();
    auto decoded = card ? rendezvous::decode_card(*card) : std::nullopt;
    if (!decoded) return std::nullopt;
    listing.cards.push_back(*std::move(decoded));
  }
  const auto is_of_usage = reader.get<std::uint8_t>();
  const auto culprit = reader.get<int>();
  auto text = reader.get_string();
  if (!reader.finished()) return std::nullopt;
  if (!text->empty()) listing.complaint = {*is_of_usage != 0, *culprit, *std::move(text)};
  return listing;
}

}  // namespace parley::wireup
