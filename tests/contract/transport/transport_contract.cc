#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportContract);

void TransportContract::make_parties(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    parties_.push_back(std::make_unique<Party>(world_->make_site(), static_cast<PeerId>(i)));
}

void TransportContract::link(std::size_t from, std::size_t to) {
  party(from).connect(party(to).self(), party(to).transport().address());
}

void TransportContract::make_linked(std::size_t count) {
  make_parties(count);
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = from + 1; to < count; ++to) link(from, to);
  run_in_turn([&](Party& one) { return one.links().size() == count - 1; });
}

void TransportContract::run_idle() {
  for (int round = 0; round < 200; ++round)
    for (const auto& one : parties_) one->step();
}

std::size_t TransportContract::fill(CheckedLink& link, std::size_t bytes) {
  // No link takes more than this unread.
  constexpr std::size_t ceiling_bytes = 256U << 20;
  const std::uint64_t before = link.taken();
  const std::uint64_t ceiling = before + ceiling_bytes / (bytes + sizeof(PacketHeader));
  while (!link.is_refused() && link.taken() < ceiling)
    if (link.try_send(bytes).failed()) break;
  EXPECT_TRUE(link.is_refused()) << "a link without a bound";
  return static_cast<std::size_t>(link.taken() - before);
}

std::size_t TransportContract::fill_to_pending(std::size_t from, std::size_t to) {
  CheckedLink& link = link_of(from, to);
  const std::uint64_t before = link.taken();
  fill(link, max_payload_bytes);
  for (const auto deadline = Party::patience(); link.unfinished() == 0 && !deadline.expired();) {
    party(from).step();
    if (!link.is_refused()) fill(link, max_payload_bytes);
  }
  EXPECT_GT(link.unfinished(), 0U);
  return static_cast<std::size_t>(link.taken() - before);
}

}  // namespace parley::transport::contract
