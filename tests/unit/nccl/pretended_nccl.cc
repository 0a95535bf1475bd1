// A library with the names of NCCL. Each function returns what the variable PRETENDED_RESULT says, 0 without
// one, and notes what it was called with; the version is PRETENDED_VERSION.
#include <nccl.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  *version = number_in("PRETENDED_VERSION");
  return ncclSuccess;
}

#ifdef COMPLETE
namespace {

std::string calls;                   // "ncclSend 1 10 7 3 4 5\n": names and arguments
const char* name_of_last = nullptr;  // as NCCL keeps it: the pointer
constexpr std::uintptr_t made_comm = 40;

// Pointers are small numbers here, which nobody follows.
template <typename Value>
std::int64_t number(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(value));
  else
    return static_cast<std::int64_t>(value);
}

template <typename... Values>
ncclResult_t note(const char* function, Values... values) {
  std::ostringstream line;
  line << function;
  ((line << ' ' << number(values)), ...);
  calls += line.str() + "\n";
  return static_cast<ncclResult_t>(number_in("PRETENDED_RESULT"));
}

ncclResult_t note_new(const char* function, ncclComm_t* comm, int a, int b, int c,
                      const ncclConfig_t& config) {
  *comm = reinterpret_cast<ncclComm_t>(made_comm);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  name_of_last = config.commName;
#endif
  return note(function, a, b, c, config.blocking, config.splitShare);
}

}  // namespace

extern "C" const char* pretended_calls() {
  static std::string told;
  told = std::exchange(calls, {});
  return told.c_str();
}
extern "C" const char* pretended_name() {
  return name_of_last;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error (run with NCCL_DEBUG=INFO for details)"
                                   : "of NCCL";
}
const char* ncclGetLastError(ncclComm_t comm) {
  return comm == nullptr ? std::getenv("PRETENDED_LAST_WORDS") : "of a communicator";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  id->internal[0] = 7;
  id->internal[NCCL_UNIQUE_ID_BYTES - 1] = 8;
  return note("ncclGetUniqueId");
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return note_new("ncclCommInitRankConfig", comm, ranks, id.internal[NCCL_UNIQUE_ID_BYTES - 1], rank,
                  *config);
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  return note_new("ncclCommSplit", child, static_cast<int>(number(comm)), color, key, *config);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = static_cast<ncclResult_t>(number_in("PRETENDED_STATE"));
  return note("ncclCommGetAsyncError", comm);
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return note("ncclCommFinalize", comm);
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return note("ncclCommDestroy", comm);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return note("ncclCommAbort", comm);
}
ncclResult_t ncclGroupStart() {
  return note("ncclGroupStart");
}
ncclResult_t ncclGroupEnd() {
  return note("ncclGroupEnd");
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return note("ncclAllReduce", from, to, count, type, op, comm, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return note("ncclReduce", from, to, count, type, op, root, comm, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return note("ncclBroadcast", from, to, count, type, root, comm, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return note("ncclAllGather", from, to, count, type, comm, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return note("ncclReduceScatter", from, to, count, type, op, comm, stream);
}
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return note("ncclSend", from, count, type, peer, comm, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return note("ncclRecv", to, count, type, peer, comm, stream);
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* factor, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  *op = static_cast<ncclRedOp_t>(21);
  return note("ncclRedOpCreatePreMulSum", factor, type, residence, comm);
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return note("ncclRedOpDestroy", op, comm);
}
#endif
