#include "rendezvous/address_card.h"

#include <gtest/gtest.h>

namespace parley::rendezvous {
namespace {

const AddressCard card{"node-a",          "boot/net:4",      4711,
                       "127.0.0.1:4242",  "boot/net:4/0af3", {0, 1, 130},
                       "90210",           "4026531836",      {{"27:4242", 1500}, {"27:1", 8000}},
                       0xfedcba9876543210};

TEST(AddressCard, ComesBackAsItWas) {
  const auto back = decode_card(encode(card));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->host, card.host);
  EXPECT_EQ(back->host_id, card.host_id);
  EXPECT_EQ(back->pid, card.pid);
  EXPECT_EQ(back->tcp_address, card.tcp_address);
  EXPECT_EQ(back->shm_address, card.shm_address);
  EXPECT_EQ(back->cores, card.cores);
  EXPECT_EQ(back->start, card.start);
  EXPECT_EQ(back->pid_namespace, card.pid_namespace);
  EXPECT_EQ(back->quotas, card.quotas);
  EXPECT_EQ(back->algorithms, card.algorithms);
}

TEST(AddressCard, TruncatedOrLongerBytesAreNoCard) {
  auto bytes = encode(card);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_card(std::span(bytes).first(size)).has_value()) << size;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_card(bytes).has_value());
}

TEST(AddressCard, AnotherVersionIsNoCard) {
  auto bytes = encode(card);
  bytes[0] ^= std::byte{2};
  EXPECT_FALSE(decode_card(bytes).has_value());
}

}  // namespace
}  // namespace parley::rendezvous
