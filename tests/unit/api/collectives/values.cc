#include "tests/unit/api/collectives/values.h"

#include <algorithm>
#include <cstdint>

namespace parley::testing {

Values given(int rank, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(1 + (static_cast<std::size_t>(rank) * 5 + i + i / 3) % 3);
  return values;
}

Values given_by_all(const std::vector<std::size_t>& counts) {
  Values all;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const Values own = given(static_cast<int>(rank), counts[rank]);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Tensor tensor_of(const Values& values, DType dtype) {
  Tensor tensor = Tensor::empty(static_cast<std::int64_t>(values.size()), dtype);
  if (dtype == DType::f32) {
    const auto elements = tensor.data_as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) elements[i] = static_cast<float>(values[i]);
    return tensor;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    tensor.narrow(0, static_cast<std::int64_t>(i), 1).fill(values[i]);
  return tensor;
}

Values values_of(const Tensor& tensor) {
  if (!tensor.device().is_cpu()) return values_of(tensor.to({}));
  const Tensor flat = tensor.reshape(static_cast<std::int64_t>(tensor.numel()));
  if (flat.dtype() == DType::f32) {
    const auto elements = flat.data_as<const float>();
    return {elements.begin(), elements.end()};
  }
  Values values;
  for (std::size_t i = 0; i < flat.numel(); ++i)
    values.push_back(flat.narrow(0, static_cast<std::int64_t>(i), 1).item());
  return values;
}

Values fold(const std::vector<Values>& all, const std::function<double(double, double)>& op) {
  Values result = all.front();
  for (std::size_t k = 1; k < all.size(); ++k)
    std::transform(result.begin(), result.end(), all[k].begin(), result.begin(), op);
  return result;
}

std::vector<Tensor> parts_of(const Tensor& tensor, const std::vector<std::size_t>& counts, bool apart) {
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::size_t count : counts) {
    const auto length = static_cast<std::int64_t>(count);
    const Tensor part = tensor.narrow(0, begin, length);
    parts.push_back(apart ? part.clone() : part);
    begin += length;
  }
  return parts;
}

}  // namespace parley::testing
