// Of the library that stands where CUDA's driver would: PRETENDED_DEVICES devices, what it knows of
// addresses, and with PRETENDED_CAPTURE what a thread may do while another captures a graph in the mode
// "global".
#include <cuda.h>

#include <cstdlib>
#include <utility>

namespace {
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
}

extern "C" CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  *mode = std::exchange(capture_mode, *mode);
  return CUDA_SUCCESS;
}

extern "C" CUresult cuEventQuery(CUevent) {
  if (std::getenv("PRETENDED_CAPTURE") != nullptr && capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const char* const text = std::getenv("PRETENDED_cuEventQuery");
  return static_cast<CUresult>(text != nullptr ? std::atoi(text) : 0);
}

extern "C" CUresult cuDeviceGetCount(int* count) {
  const char* const text = std::getenv("PRETENDED_DEVICES");
  *count = text != nullptr ? std::atoi(text) : 0;
  return CUDA_SUCCESS;
}

// Below 100 there is nothing; then pinned memory, memory of device 1 from 200 on, and from 300 on managed
// memory that was made for it.
extern "C" CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                           CUdeviceptr address) {
  if (address < 100) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(values[i]) = address < 200 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<bool*>(values[i]) = address >= 300; break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(values[i]) = 1; break;
      case CU_POINTER_ATTRIBUTE_BUFFER_ID: *static_cast<unsigned long long*>(values[i]) = 17; break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(values[i]) = 200; break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<std::size_t*>(values[i]) = 64; break;
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *static_cast<bool*>(values[i]) = true; break;
      default: return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}
