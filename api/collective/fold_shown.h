#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/reduce/reduction.h"
#include "transport/base/store_choice.h"

namespace parley::collective {

// Folds `count` elements as reduction.fold() does, to where others read them. A fold stores through the
// caches; where `stores` says so it is made at home, part by part, and copies go past them. Each of
// `operands` is at its end then.
void fold_shown(base::StoreChoice& stores, const tensor::Reduction& reduction, std::byte* to,
                std::span<const void*> operands, std::uint64_t count) noexcept;

}  // namespace parley::collective
