#include "tests/contract/transport/shm_world.h"
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

using ShmRoom = TransportContract;

// The reader's visit ends with the very record that empties the ring, and leaves less than a quarter of it to
// hand back; the chunk that follows needs what was read last.
TEST_P(ShmRoom, ComesBackWhenAVisitEndsWithTheRing) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  std::vector<std::size_t> sizes{3072, 3072, 3584};
  sizes.resize(54, 8);
  sizes.insert(sizes.end(), {4096, 3584});
  sizes.resize(64, 0);  // the reserve of cells
  sender.send(sizes);
  for (int step = 0; step < 1000 && sender.taken() < sizes.size(); ++step) party(0).step();
  ASSERT_EQ(sender.taken(), sizes.size()) << "all of it fits";
  sender.send({16384});
  run_in_turn([&](Party& one) { return one.self() == 0 || one.links()[0]->received() == sizes.size() + 1; });
}

// That the parameters below are what their names say: there is no other way for a large packet.
class ShmMover : public TransportContract {
 protected:
  // What each says of its link after large packets in both directions.
  void expect_pulls(const std::string& how) {
    make_linked(2);
    const std::vector<std::size_t> sizes{9000, 10, 100'000, max_payload_bytes, 1};
    for (const auto& one : parties_) one->links()[0]->send(sizes);
    run_until([&](Party& one) {
      return one.links()[0]->is_all_sent() && one.links()[0]->received() == sizes.size();
    });
    for (const auto& one : parties_) {
      const auto* link = dynamic_cast<MovedEndpoint*>(one->links()[0]->endpoint());
      ASSERT_NE(link, nullptr);
      EXPECT_EQ(link->pulled(), 3U);
      EXPECT_EQ(link->mover->describe(), how);
    }
  }
};
using ShmCma = ShmMover;
using ShmArena = ShmMover;

TEST_P(ShmCma, BringsAllLargePackets) {
  expect_pulls("cma");
}
TEST_P(ShmArena, BringsAllLargePackets) {
  expect_pulls("no cma: PARLEY_TRANSPORTS forbids it; it reads our arena; we read its arena");
}

INSTANTIATE_TEST_SUITE_P(Shm, ShmRoom, testing::ValuesIn(both_drives("Shm", make_shm)), case_name);
INSTANTIATE_TEST_SUITE_P(Shm, TransportContract, testing::ValuesIn(both_drives("Shm", make_shm)), case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithCma, ShmCma, testing::ValuesIn(both_drives("ShmCma", make_shm_with_cma)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithCma, TransportContract,
                         testing::ValuesIn(both_drives("ShmCma", make_shm_with_cma)), case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithArena, ShmArena,
                         testing::ValuesIn(both_drives("ShmArena", make_shm_with_arena)), case_name);
INSTANTIATE_TEST_SUITE_P(ShmWithArena, TransportContract,
                         testing::ValuesIn(both_drives("ShmArena", make_shm_with_arena)), case_name);
INSTANTIATE_TEST_SUITE_P(TightShm, TransportContract,
                         testing::ValuesIn(both_drives("TightShm", make_tight_shm)), case_name);

}  // namespace
}  // namespace parley::transport::contract
