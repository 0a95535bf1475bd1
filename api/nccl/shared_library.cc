#include "api/nccl/shared_library.h"

#include <cstring>
#include <string_view>

#include "api/nccl/functions.h"
#include "transport/base/log.h"

namespace parley::nccl {
namespace {

template <auto ours, auto theirs>
constexpr bool is_same = static_cast<int>(ours) == static_cast<int>(theirs);
static_assert(is_same<Result::success, ncclSuccess>);
static_assert(is_same<Result::unhandled_cuda_error, ncclUnhandledCudaError>);
static_assert(is_same<Result::system_error, ncclSystemError>);
static_assert(is_same<Result::internal_error, ncclInternalError>);
static_assert(is_same<Result::invalid_argument, ncclInvalidArgument>);
static_assert(is_same<Result::invalid_usage, ncclInvalidUsage>);
static_assert(is_same<Result::remote_error, ncclRemoteError>);
static_assert(is_same<Result::in_progress, ncclInProgress>);
static_assert(is_same<Type::i8, ncclInt8> && is_same<Type::u8, ncclUint8>);
static_assert(is_same<Type::i32, ncclInt32> && is_same<Type::u32, ncclUint32>);
static_assert(is_same<Type::i64, ncclInt64> && is_same<Type::u64, ncclUint64>);
static_assert(is_same<Type::f16, ncclFloat16> && is_same<Type::bf16, ncclBfloat16>);
static_assert(is_same<Type::f32, ncclFloat32> && is_same<Type::f64, ncclFloat64>);
static_assert(is_same<Fold::sum, ncclSum> && is_same<Fold::product, ncclProd>);
static_assert(is_same<Fold::max, ncclMax> && is_same<Fold::min, ncclMin>);
static_assert(is_same<Fold::average, ncclAvg>);
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));

Result result_of(ncclResult_t result) noexcept {
  return static_cast<Result>(result);
}
ncclComm_t theirs(Communicator communicator) noexcept {
  return reinterpret_cast<ncclComm_t>(communicator);
}
cudaStream_t theirs(cuda::Stream stream) noexcept {
  return reinterpret_cast<cudaStream_t>(stream);
}
ncclDataType_t theirs(Type type) noexcept {
  return static_cast<ncclDataType_t>(type);
}
ncclRedOp_t theirs(Fold fold) noexcept {
  return static_cast<ncclRedOp_t>(fold);
}

// An older library ignores what it does not know of it, by the version inside, and a newer one knows this.
ncclConfig_t config_for(const Membership& who) noexcept {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.commName = who.name;
  return config;
}

class SharedLibrary final : public Library {
 public:
  explicit SharedLibrary(const Functions& functions) : call_(functions) {}

  [[nodiscard]] std::string describe(Result result) const override {
    std::string text = base::concat(call_.get_error_string(static_cast<ncclResult_t>(result)),
                                    " (NCCL error ", static_cast<int>(result), ")");
    const char* const last = call_.get_last_error(nullptr);
    return last != nullptr && *last != '\0' ? base::concat(text, ": ", last) : text;
  }
  [[nodiscard]] int version() const noexcept override { return call_.version; }

  Result make_unique_id(UniqueId& id) noexcept override {
    ncclUniqueId made;
    const Result result = result_of(call_.get_unique_id(&made));
    std::memcpy(id.data(), &made, id.size());
    return result;
  }

  Result join(const UniqueId& id, const Membership& who, Communicator& communicator) noexcept override {
    ncclUniqueId named;
    std::memcpy(&named, id.data(), id.size());
    ncclConfig_t config = config_for(who);
    return result_of(
        call_.join(reinterpret_cast<ncclComm_t*>(&communicator), who.ranks, named, who.rank, &config));
  }
  Result state(Communicator communicator) noexcept override {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = call_.get_async_error(theirs(communicator), &state);
    return result_of(asked != ncclSuccess ? asked : state);
  }

  Result finish(Communicator communicator) noexcept override {
    return result_of(call_.finalize(theirs(communicator)));
  }
  Result destroy(Communicator communicator) noexcept override {
    return result_of(call_.destroy(theirs(communicator)));
  }
  Result abort(Communicator communicator) noexcept override {
    return result_of(call_.abort(theirs(communicator)));
  }

  Result begin_group() noexcept override { return result_of(call_.group_start()); }
  Result end_group() noexcept override { return result_of(call_.group_end()); }

  Result all_reduce(const void* from, void* to, std::size_t count, Type type, Fold fold,
                    Communicator communicator, cuda::Stream stream) noexcept override {
    return result_of(
        call_.all_reduce(from, to, count, theirs(type), theirs(fold), theirs(communicator), theirs(stream)));
  }
  Result reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, int root,
                Communicator communicator, cuda::Stream stream) noexcept override {
    return result_of(call_.reduce(from, to, count, theirs(type), theirs(fold), root, theirs(communicator),
                                  theirs(stream)));
  }
  Result broadcast(const void* from, void* to, std::size_t count, Type type, int root,
                   Communicator communicator, cuda::Stream stream) noexcept override {
    return result_of(
        call_.broadcast(from, to, count, theirs(type), root, theirs(communicator), theirs(stream)));
  }
  Result all_gather(const void* from, void* to, std::size_t count, Type type, Communicator communicator,
                    cuda::Stream stream) noexcept override {
    return result_of(call_.all_gather(from, to, count, theirs(type), theirs(communicator), theirs(stream)));
  }
  Result reduce_scatter(const void* from, void* to, std::size_t count, Type type, Fold fold,
                        Communicator communicator, cuda::Stream stream) noexcept override {
    return result_of(call_.reduce_scatter(from, to, count, theirs(type), theirs(fold), theirs(communicator),
                                          theirs(stream)));
  }
  Result send(const void* from, std::size_t count, Type type, int peer, Communicator communicator,
              cuda::Stream stream) noexcept override {
    return result_of(call_.send(from, count, theirs(type), peer, theirs(communicator), theirs(stream)));
  }
  Result receive(void* to, std::size_t count, Type type, int peer, Communicator communicator,
                 cuda::Stream stream) noexcept override {
    return result_of(call_.receive(to, count, theirs(type), peer, theirs(communicator), theirs(stream)));
  }

  Result make_scaled_sum(const void* factor, Type type, Communicator communicator,
                         Fold& fold) noexcept override {
    ncclRedOp_t made = ncclSum;
    const ncclResult_t result = call_.make_scaled_sum(&made, const_cast<void*>(factor), theirs(type),
                                                      ncclScalarHostImmediate, theirs(communicator));
    fold = static_cast<Fold>(made);
    return result_of(result);
  }
  Result drop_scaled_sum(Fold fold, Communicator communicator) noexcept override {
    return result_of(call_.drop_op(theirs(fold), theirs(communicator)));
  }

 private:
  const Functions call_;
};

}  // namespace

OpenedLibrary open_library(const char* name) {
  Functions functions;
  if (std::string reason = find_functions(name, functions); !reason.empty())
    return {nullptr, std::move(reason)};
  return {std::make_unique<SharedLibrary>(functions), {}};
}

}  // namespace parley::nccl
