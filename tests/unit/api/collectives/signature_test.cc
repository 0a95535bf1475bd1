#include "api/collective/signature.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace parley::collective {
namespace {

using schedule::Operation;

// One of each kind, none of which tells a count.
std::vector<Signature> signatures() {
  return {
      {},
      {.operation = Operation::all_gather, .dtype = DType::f32},
      {.operation = Operation::broadcast, .dtype = DType::f64, .root = 3, .is_on_devices = true},
      {.operation = Operation::reduce, .dtype = DType::bf16, .reduction = ReduceOp::max, .root = 0},
      {.operation = Operation::all_reduce,
       .dtype = DType::i32,
       .reduction = ReduceOp::sum,
       .rank_order = true,
       .commutative = false},
      {.operation = Operation::gather, .root = 2, .is_of_objects = true},
      {.operation = Operation::all_gather, .is_meeting = true},
      {.operation = Operation::barrier, .is_split = true},
  };
}

TEST(Signature, IsToldAgainByItsBits) {
  for (const Signature& signature : signatures()) {
    const Signature told = unpacked(signature.packed());
    EXPECT_EQ(describe(told), describe(signature));
    EXPECT_EQ(told.packed(), signature.packed());
  }
}

TEST(Signature, KeepsWhatDoesNotFitItsFieldOutOfTheOthers) {
  const Signature signature{.operation = Operation::broadcast,
                            .dtype = DType::f64,
                            .root = 20000,
                            .count = 8,
                            .counts_hash = ~std::uint64_t{0}};
  const Signature told = unpacked(signature.packed());
  EXPECT_EQ(told.operation, Operation::broadcast);
  EXPECT_EQ(told.dtype, DType::f64);
  EXPECT_EQ(told.root, 20000 & 0x3fff);
  EXPECT_FALSE(told.reduction);
  EXPECT_FALSE(told.rank_order || told.is_on_devices);
  EXPECT_TRUE(told.commutative);
}

TEST(Signature, OfAnyBitsIsDescribed) {
  for (std::uint64_t operation = 0; operation < 16; ++operation)
    for (std::uint64_t kind = 0; kind < 32; ++kind)
      for (std::uint64_t dtype = 0; dtype < 32; ++dtype) {
        const std::string text = describe_other(operation << 40 | kind << 30 | dtype << 35, 0);
        EXPECT_FALSE(text.empty());
        if (operation >= schedule::operation_count) {
          EXPECT_EQ(text, "something unknown");
        }
      }
}

TEST(Signature, OfAnotherCountSaysSo) {
  Signature own{.operation = Operation::all_gather, .dtype = DType::f32, .count = 8};
  Signature other = own;
  other.count = 9;
  EXPECT_EQ(describe_other(other.packed(), own.packed()), "all_gather of another number of f32");
  own.dtype = DType::f64;
  EXPECT_EQ(describe_other(other.packed(), own.packed()), "all_gather of f32");
}

}  // namespace
}  // namespace parley::collective
