// What a part of a store promises beyond the contract.

#include "tests/contract/store/store_fixture.h"

namespace parley::test {
namespace {

TEST(PrefixStore, PartsDoNotMeet) {
  const auto whole = make_memory_store();
  const auto a = make_prefix_store(whole, "a");
  const auto b = make_prefix_store(whole, "b");
  const auto inner = make_prefix_store(a, "inner");
  a->set_string("key", "of a");
  b->set_string("key", "of b");
  inner->set_string("key", "of a's part");
  EXPECT_EQ(a->get_string("key"), "of a");
  EXPECT_EQ(whole->get_string("a/inner/key"), "of a's part");
  EXPECT_EQ(a->key_count(), 2U);
  EXPECT_EQ(b->key_count(), 1U);
  EXPECT_EQ(whole->key_count(), 3U);
  EXPECT_THROW(make_prefix_store(nullptr, "a"), UsageError);
}

TEST(PrefixStore, ItsTimeoutIsTheInnerOnesAtFirst) {
  const auto whole = make_memory_store();
  whole->set_timeout(20ms);
  const auto part = make_prefix_store(whole, "part");
  EXPECT_EQ(part->timeout(), 20ms);
  EXPECT_THROW(part->get("key"), StoreTimeoutError);
  part->set_timeout(10ms);
  EXPECT_EQ(whole->timeout(), 20ms);
}

}  // namespace
}  // namespace parley::test
