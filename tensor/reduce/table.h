#pragma once

#include "tensor/reduce/kernels.h"
#include "tensor/reduce/loops.h"

// The kernels of one instruction set. A function of its own for each row keeps the list readable.
namespace parley::tensor::PARLEY_ISA {

class TableMaker {
 public:
  template <typename T>
  constexpr void add_unsigned(Lane lane) noexcept {
    set<Integers<T>, Add>(lane, Combine::add);
    set<Integers<T>, Multiply>(lane, Combine::multiply);
    table_.multiply[index(lane)] = &scale<Integers<T>, Multiply>;
  }
  template <typename T>
  constexpr void add_ordered(Lane lane) noexcept {
    set<Integers<T>, Minimum>(lane, Combine::minimum);
    set<Integers<T>, Maximum>(lane, Combine::maximum);
  }
  template <typename Format>
  constexpr void add_floating_point(Lane lane) noexcept {
    set<Format, Add>(lane, Combine::add);
    set<Format, Multiply>(lane, Combine::multiply);
    set<Format, Minimum>(lane, Combine::minimum);
    set<Negated<Format>, Minimum>(lane, Combine::maximum);
    table_.multiply[index(lane)] = &scale<Format, Multiply>;
    table_.divide[index(lane)] = &scale<Format, Divide>;
  }
  template <typename Format>
  constexpr void add_bits(Lane lane) noexcept {
    set<Format, And>(lane, Combine::bit_and);
    set<Format, Or>(lane, Combine::bit_or);
    set<Format, Xor>(lane, Combine::bit_xor);
  }
  [[nodiscard]] constexpr const Kernels& table() const noexcept { return table_; }

 private:
  static constexpr std::size_t index(Lane lane) noexcept { return static_cast<std::size_t>(lane); }
  template <typename Format, typename Op>
  constexpr void set(Lane lane, Combine combine) noexcept {
    table_.fold[index(lane)][static_cast<std::size_t>(combine)] = &fold<Format, Op>;
  }
  Kernels table_ = {};
};

consteval Kernels make_table() noexcept {
  TableMaker maker;
  maker.add_unsigned<std::uint8_t>(Lane::u8);
  maker.add_unsigned<std::uint16_t>(Lane::u16);
  maker.add_unsigned<std::uint32_t>(Lane::u32);
  maker.add_unsigned<std::uint64_t>(Lane::u64);
  maker.add_ordered<std::uint8_t>(Lane::u8);
  maker.add_ordered<std::int8_t>(Lane::i8);
  maker.add_ordered<std::int16_t>(Lane::i16);
  maker.add_ordered<std::int32_t>(Lane::i32);
  maker.add_ordered<std::int64_t>(Lane::i64);
  maker.add_floating_point<Halves>(Lane::f16);
  maker.add_floating_point<Brains>(Lane::bf16);
  maker.add_floating_point<Floats<float>>(Lane::f32);
  maker.add_floating_point<Floats<double>>(Lane::f64);
  maker.add_bits<Integers<std::uint8_t>>(Lane::u8);  // of any width
  maker.add_bits<Truths<std::uint8_t>>(Lane::truth8);
  maker.add_bits<Truths<std::uint16_t>>(Lane::truth16);
  maker.add_bits<Truths<std::uint32_t>>(Lane::truth32);
  maker.add_bits<Truths<std::uint64_t>>(Lane::truth64);
  return maker.table();
}

}  // namespace parley::tensor::PARLEY_ISA
