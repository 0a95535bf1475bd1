#pragma once

#include <nccl.h>

#include <string>

namespace parley::nccl {

// The functions of NCCL that Parley calls: X(member, function of nccl.h).
#define PARLEY_NCCL_FUNCTIONS(X)                         \
  X(get_unique_id, ncclGetUniqueId)                      \
  X(comm_init_rank_config, ncclCommInitRankConfig)       \
  X(comm_split, ncclCommSplit)                           \
  X(comm_get_async_error, ncclCommGetAsyncError)         \
  X(comm_finalize, ncclCommFinalize)                     \
  X(comm_destroy, ncclCommDestroy)                       \
  X(comm_abort, ncclCommAbort)                           \
  X(group_start, ncclGroupStart)                         \
  X(group_end, ncclGroupEnd)                             \
  X(all_reduce, ncclAllReduce)                           \
  X(reduce, ncclReduce)                                  \
  X(broadcast, ncclBroadcast)                            \
  X(all_gather, ncclAllGather)                           \
  X(reduce_scatter, ncclReduceScatter)                   \
  X(send, ncclSend)                                      \
  X(recv, ncclRecv)                                      \
  X(red_op_create_pre_mul_sum, ncclRedOpCreatePreMulSum) \
  X(red_op_destroy, ncclRedOpDestroy)                    \
  X(get_error_string, ncclGetErrorString)                \
  X(get_last_error, ncclGetLastError)

// Where they are. Trivially copyable; valid as long as the library stays open.
struct Functions {
  int version = 0;  // what ncclGetVersion() says: 22809 is 2.28.9
#define PARLEY_DECLARE(member, function) decltype(&::function) member = nullptr;
  PARLEY_NCCL_FUNCTIONS(PARLEY_DECLARE)
#undef PARLEY_DECLARE
};

// Opens `library` and finds them all. In words what is against it, "" if nothing is: then the library stays
// open until the process ends. Calls nothing but ncclGetVersion().
[[nodiscard]] std::string find_functions(const char* library, Functions& functions);

}  // namespace parley::nccl
