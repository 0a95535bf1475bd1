#pragma once

#include <parley/export.h>
#include <parley/tensor.h>

// Tensors to and from other libraries without a copy, by DLPack (dmlc/dlpack, version 1.1). Include that
// library's own <dlpack/dlpack.h> where you need the members of its structs; this header only names them.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace parley {

// A view of the other library's memory, on the CPU or a GPU, that keeps it: its deleter is called when the
// last tensor that shares it has gone. Takes over `tensor` unless it throws.
// UsageError for what a Tensor cannot be: negative strides, lanes, more than 8 dimensions, another element
// type or device, a newer major version. One that is flagged read-only is read-only.
[[nodiscard]] PARLEY_API Tensor from_dlpack(DLManagedTensor* tensor);
[[nodiscard]] PARLEY_API Tensor from_dlpack(DLManagedTensorVersioned* tensor);

// The same memory for another library, which calls the deleter once; until then an owning tensor's memory is
// kept. Memory that the tensor only views has to outlive what is returned.
// UsageError for element types that DLPack lacks (pairs), and for a read-only tensor where it cannot be
// flagged so: to_dlpack_versioned() can.
[[nodiscard]] PARLEY_API DLManagedTensor* to_dlpack(const Tensor& tensor);
[[nodiscard]] PARLEY_API DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

}  // namespace parley
