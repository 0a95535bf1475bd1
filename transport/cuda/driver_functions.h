#pragma once

#include <cuda.h>

#include <string>

namespace parley::cuda {

// The functions of CUDA's driver that Parley calls: X(member, function of cuda.h). cuda.h maps most names to
// a version ("cuMemAlloc" to "cuMemAlloc_v2"); that version's name is looked up, for its types are compiled
// in. cuDeviceGetUuid_v2 has a name of its own in CUDA 12's, too: to the first version all instances of one
// GPU (MIG) are the same.
#define PARLEY_CUDA_FUNCTIONS(X)                              \
  X(init, cuInit)                                             \
  X(get_error_string, cuGetErrorString)                       \
  X(device_get_count, cuDeviceGetCount)                       \
  X(device_get, cuDeviceGet)                                  \
  X(device_get_name, cuDeviceGetName)                         \
  X(device_get_uuid, cuDeviceGetUuid_v2)                      \
  X(primary_context_retain, cuDevicePrimaryCtxRetain)         \
  X(context_get_current, cuCtxGetCurrent)                     \
  X(context_set_current, cuCtxSetCurrent)                     \
  X(context_get_device, cuCtxGetDevice)                       \
  X(enable_peer_access, cuCtxEnablePeerAccess)                \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode) \
  X(mem_alloc, cuMemAlloc)                                    \
  X(mem_free, cuMemFree)                                      \
  X(mem_host_alloc, cuMemHostAlloc)                           \
  X(mem_free_host, cuMemFreeHost)                             \
  X(mem_host_register, cuMemHostRegister)                     \
  X(mem_host_unregister, cuMemHostUnregister)                 \
  X(mem_host_get_device, cuMemHostGetDevicePointer)           \
  X(pointer_get_attributes, cuPointerGetAttributes)           \
  X(stream_create, cuStreamCreate)                            \
  X(stream_destroy, cuStreamDestroy)                          \
  X(stream_is_capturing, cuStreamIsCapturing)                 \
  X(stream_get_id, cuStreamGetId)                             \
  X(stream_query, cuStreamQuery)                              \
  X(stream_synchronize, cuStreamSynchronize)                  \
  X(stream_wait_event, cuStreamWaitEvent)                     \
  X(stream_write_value, cuStreamWriteValue32)                 \
  X(stream_wait_value, cuStreamWaitValue32)                   \
  X(event_create, cuEventCreate)                              \
  X(event_destroy, cuEventDestroy)                            \
  X(event_record, cuEventRecord)                              \
  X(event_query, cuEventQuery)                                \
  X(event_synchronize, cuEventSynchronize)                    \
  X(memcpy_async, cuMemcpyAsync)                              \
  X(memset_async, cuMemsetD8Async)                            \
  X(ipc_get_mem_handle, cuIpcGetMemHandle)                    \
  X(ipc_open_mem_handle, cuIpcOpenMemHandle)                  \
  X(ipc_close_mem_handle, cuIpcCloseMemHandle)                \
  X(module_load_data, cuModuleLoadData)                       \
  X(module_get_function, cuModuleGetFunction)                 \
  X(launch_kernel, cuLaunchKernel)

// Where they are. Trivially copyable; valid as long as the library stays open.
struct DriverFunctions {
  int version = 0;  // what cuDriverGetVersion() says: 13000 is 13.0
#define PARLEY_DECLARE(member, function) decltype(&::function) member = nullptr;
  PARLEY_CUDA_FUNCTIONS(PARLEY_DECLARE)
#undef PARLEY_DECLARE
};

// "13.0" of 13000.
[[nodiscard]] std::string version_text(int version);

// Opens `library` and finds them all. In words what is against it, "" if nothing is: then the library stays
// open until the process ends. Calls nothing but cuDriverGetVersion().
[[nodiscard]] std::string find_functions(const char* library, DriverFunctions& functions);

}  // namespace parley::cuda
