#include "api/nccl/shared_library.h"

#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

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
static_assert(is_same<Type::i8, ncclInt8>);
static_assert(is_same<Type::u8, ncclUint8>);
static_assert(is_same<Type::i32, ncclInt32>);
static_assert(is_same<Type::u32, ncclUint32>);
static_assert(is_same<Type::i64, ncclInt64>);
static_assert(is_same<Type::u64, ncclUint64>);
static_assert(is_same<Type::f16, ncclFloat16>);
static_assert(is_same<Type::f32, ncclFloat32>);
static_assert(is_same<Type::f64, ncclFloat64>);
static_assert(is_same<Type::bf16, ncclBfloat16>);
static_assert(is_same<Fold::sum, ncclSum>);
static_assert(is_same<Fold::product, ncclProd>);
static_assert(is_same<Fold::max, ncclMax>);
static_assert(is_same<Fold::min, ncclMin>);
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

// Names of communicators. NCCL keeps the pointer that it is given, and a thread of its own reads it; where
// several ranks of one process share a communicator's resources it lives longer than destroy(). So names are
// never freed; equal ones are one. Thread-safety: any thread.
class Names {
 public:
  // Null: there is no memory for it.
  const char* keep(const char* name) noexcept try {
    const std::lock_guard lock(mutex_);
    return all_.emplace(name).first->c_str();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> all_;
};

// Without what NCCL adds for those who have no last words: "(run with NCCL_DEBUG=INFO for details)".
std::string_view without_hint(std::string_view words) {
  return words.substr(0, words.find(" (run with "));
}
std::string_view without_line_ends(std::string_view words) {
  while (words.ends_with('\n')) words.remove_suffix(1);
  return words;
}

class SharedLibrary final : public Library {
 public:
  explicit SharedLibrary(const Functions& functions) : call_(functions) {}

  [[nodiscard]] std::string describe(Result result) const override {
    const char* meaning = call_.get_error_string(static_cast<ncclResult_t>(result));
    const std::string words = base::concat(without_hint(meaning != nullptr ? meaning : "unknown"),
                                           " (NCCL error ", static_cast<int>(result), ")");
    // One text for the whole process, which another thread may be writing: good for people, and nothing else.
    const char* last = has_failed(result) ? call_.get_last_error(nullptr) : nullptr;
    if (last == nullptr || without_line_ends(last).empty()) return words;
    return base::concat(words, ": ", without_line_ends(last));
  }
  [[nodiscard]] int version() const noexcept override { return call_.version; }

  Result make_unique_id(UniqueId& id) noexcept override {
    ncclUniqueId made{};
    const ncclResult_t result = call_.get_unique_id(&made);
    std::memcpy(id.data(), made.internal, id.size());
    return result_of(result);
  }

  Result join(const UniqueId& id, const Membership& who, Communicator& communicator) noexcept override {
    ncclUniqueId known{};
    std::memcpy(known.internal, id.data(), id.size());
    ncclConfig_t config = config_of(who.name);
    return result_of(
        call_.comm_init_rank_config(place_of(communicator), who.ranks, known, who.rank, &config));
  }
  Result split(Communicator communicator, const Division& part, Communicator& child) noexcept override {
    static_assert(Division::no_color == NCCL_SPLIT_NOCOLOR);
    ncclConfig_t config = config_of(part.name);
    const Result begun =
        result_of(call_.comm_split(theirs(communicator), part.color, part.key, place_of(child), &config));
    // NCCL calls it a success when it has only begun (ncclCommSplit in its src/init.cc).
    return begun == Result::success ? state(communicator) : begun;
  }
  Result state(Communicator communicator) noexcept override {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t result = call_.comm_get_async_error(theirs(communicator), &state);
    return result_of(result != ncclSuccess ? result : state);
  }

  Result finish(Communicator communicator) noexcept override {
    return result_of(call_.comm_finalize(theirs(communicator)));
  }
  Result destroy(Communicator communicator) noexcept override {
    return result_of(call_.comm_destroy(theirs(communicator)));
  }
  Result abort(Communicator communicator) noexcept override {
    return result_of(call_.comm_abort(theirs(communicator)));
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
    return result_of(call_.recv(to, count, theirs(type), peer, theirs(communicator), theirs(stream)));
  }

  Result make_scaled_sum(const void* factor, Type type, Communicator communicator,
                         Fold& fold) noexcept override {
    ncclRedOp_t made = ncclSum;
    // NCCL reads the factor, though it takes a pointer to what it could write.
    const ncclResult_t result = call_.red_op_create_pre_mul_sum(
        &made, const_cast<void*>(factor), theirs(type), ncclScalarHostImmediate, theirs(communicator));
    fold = static_cast<Fold>(made);
    return result_of(result);
  }
  Result drop_scaled_sum(Fold fold, Communicator communicator) noexcept override {
    return result_of(call_.red_op_destroy(theirs(fold), theirs(communicator)));
  }

 private:
  static ncclComm_t* place_of(Communicator& communicator) noexcept {
    communicator = nullptr;
    return reinterpret_cast<ncclComm_t*>(&communicator);
  }

  // It says its own size and version, by which an older library leaves out what it does not know, and a newer
  // one takes its defaults for what is missing.
  ncclConfig_t config_of([[maybe_unused]] const char* name) noexcept {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    config.splitShare = 0;  // children of this one with the same resources would be aborted with it
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    if (name[0] != '\0') config.commName = names_.keep(name);
#endif
    return config;
  }

  const Functions call_;
  Names names_;
};

}  // namespace

OpenedLibrary open_library(const char* name) {
  Functions functions;
  if (std::string reason = find_functions(name, functions); !reason.empty())
    return {nullptr, std::move(reason)};
  return {std::make_unique<SharedLibrary>(functions), {}};
}

}  // namespace parley::nccl
