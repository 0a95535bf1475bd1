#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/reduce_op.h>

#include <set>
#include <sstream>

namespace parley {
namespace {

using Kind = ReduceOp::Kind;

struct Options {
  ReduceOp op = ReduceOp::sum;
};
Kind kind_of(const Options& options) {
  return options.op.kind();
}

void nothing(void*, const void*, const void*, std::size_t, DType) {}

TEST(ReduceOp, IsWrittenByItsName) {
  EXPECT_EQ(kind_of({}), Kind::sum);
  EXPECT_EQ(kind_of({.op = ReduceOp::max}), Kind::max);
  EXPECT_EQ(kind_of({.op = ReduceOp::premul_sum(0.5)}), Kind::premul_sum);
  EXPECT_EQ(kind_of({.op = ReduceOp::custom(nothing, false)}), Kind::custom);
}

TEST(ReduceOp, HasAName) {
  std::set<std::string_view> names;
  for (int code = 0; code < ReduceOp::kind_count; ++code) names.insert(name(static_cast<Kind>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ReduceOp::kind_count));
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_EQ(name(static_cast<Kind>(ReduceOp::kind_count)), "unknown");
  std::ostringstream out;
  out << ReduceOp(ReduceOp::bxor) << ' ' << ReduceOp::premul_sum(2);
  EXPECT_EQ(out.str(), "bxor premul_sum");
}

TEST(ReduceOp, NumbersOnTheWireStay) {
  EXPECT_EQ(static_cast<int>(Kind::sum), 0);
  EXPECT_EQ(static_cast<int>(Kind::avg), 4);
  EXPECT_EQ(static_cast<int>(Kind::lor), 9);
  EXPECT_EQ(static_cast<int>(Kind::custom), 13);
}

TEST(ReduceOp, CarriesAFactorOrAFunction) {
  const ReduceOp half = ReduceOp::premul_sum(0.5);
  EXPECT_EQ(half.factor().to<double>(), 0.5);
  EXPECT_TRUE(half.is_commutative());
  EXPECT_THROW((void)half.function(), UsageError);
  int calls = 0;
  const ReduceOp own = ReduceOp::custom([&](auto...) { ++calls; }, false);
  own.function()(nullptr, nullptr, nullptr, 1, DType::bytes);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(own.is_commutative());
  EXPECT_TRUE(ReduceOp::custom(nothing, true).is_commutative());
  EXPECT_THROW((void)own.factor(), UsageError);
}

TEST(ReduceOp, IsNotMadeWithoutWhatItNeeds) {
  EXPECT_THROW((void)ReduceOp(Kind::premul_sum), UsageError);
  EXPECT_THROW((void)ReduceOp(Kind::custom), UsageError);
  EXPECT_THROW((void)ReduceOp::custom(nullptr, true), UsageError);
}

TEST(ReduceOp, EachTypeHasItsReductions) {
  // One letter each in the order of the enumerators: sum product min max avg, band bor bxor land lor, minloc
  // maxloc, premul_sum, custom.
  const auto taken = [](DType dtype) {
    std::string letters;
    for (int code = 0; code < ReduceOp::kind_count; ++code)
      letters += reason_against(static_cast<Kind>(code), dtype).empty() ? "spmMaBOX&|lLfc"[code] : '.';
    return letters;
  };
  for (const DType dtype : {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64})
    EXPECT_EQ(taken(dtype), "spmMaBOX&|..fc") << dtype;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64})
    EXPECT_EQ(taken(dtype), "spmMa.......fc") << dtype;
  for (const DType dtype : {DType::complex64, DType::complex128})
    EXPECT_EQ(taken(dtype), "sp..a.......fc") << dtype;
  EXPECT_EQ(taken(DType::boolean), "spmM.BOX&|...c");
  for (const DType dtype : {DType::f32_i32, DType::f64_i64, DType::i32_i32, DType::i64_i64})
    EXPECT_EQ(taken(dtype), "..........lL.c") << dtype;
  for (const DType dtype : {DType::bytes, DType::f8_e4m3, DType::f8_e5m2})
    EXPECT_EQ(taken(dtype), ".............c") << dtype;
}

TEST(ReduceOp, SaysWhyNot) {
  EXPECT_EQ(reason_against(Kind::max, DType::complex128), "complex numbers have no order");
  EXPECT_EQ(reason_against(Kind::lor, DType::f32), "bitwise and logical operations take integers and bool");
  EXPECT_EQ(reason_against(Kind::avg, DType::boolean), "bool is no number to multiply or divide");
  EXPECT_EQ(reason_against(Kind::sum, DType::f8_e5m2), "f8 elements are carried, not computed with");
  EXPECT_EQ(reason_against(Kind::sum, DType::bytes), "bytes have no type to compute with");
  EXPECT_EQ(reason_against(Kind::sum, DType::f32_i32),
            "pairs of a value and its index take minloc and maxloc only");
  EXPECT_EQ(reason_against(Kind::minloc, DType::f32),
            "minloc and maxloc take pairs of a value and its index, such as f32_i32");
  EXPECT_EQ(reason_against(static_cast<Kind>(99), DType::f32), "no such reduction");
  EXPECT_EQ(reason_against(Kind::sum, static_cast<DType>(99)), "no such element type");
}

}  // namespace
}  // namespace parley
