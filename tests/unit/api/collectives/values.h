#pragma once

#include <parley/dtype.h>
#include <parley/tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace parley::testing {

// The elements of a tensor, as the reference computes with them.
using Values = std::vector<double>;

// What a rank gives: 1, 2 or 3, so that all types hold all results but large products.
Values given(int rank, std::size_t count);
// given() of one rank after another, of `counts` elements.
Values given_by_all(const std::vector<std::size_t>& counts);

Tensor tensor_of(const Values& values, DType dtype);
Values values_of(const Tensor& tensor);

// Element by element, from the left.
Values fold(const std::vector<Values>& all, const std::function<double(double, double)>& op);

// Consecutive parts of a tensor of one dimension; of `apart`, copies of them that are no neighbours.
std::vector<Tensor> parts_of(const Tensor& tensor, const std::vector<std::size_t>& counts, bool apart);

}  // namespace parley::testing
