#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/cuda/api.h"

namespace parley::nccl {

// What a call of NCCL came to. The numbers are NCCL's (ncclResult_t); any other is a failure as well.
enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,  // begun, and goes on: state() tells its end. No failure
};
[[nodiscard]] constexpr bool has_failed(Result result) noexcept {
  return result != Result::success && result != Result::in_progress;
}

// NCCL's own pointer, opaque here: a Communicator is an ncclComm_t.
struct OpaqueCommunicator;
using Communicator = OpaqueCommunicator*;

// By which the ranks of a communicator find each other. Made by one of them, told to all.
using UniqueId = std::array<std::byte, 128>;

// Element types, with NCCL's numbers (ncclDataType_t).
enum class Type : int {
  i8 = 0,
  u8 = 1,
  i32 = 2,
  u32 = 3,
  i64 = 4,
  u64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
};

// How elements are folded, with NCCL's numbers (ncclRedOp_t). make_scaled_sum() makes further ones.
enum class Fold : int { sum = 0, product = 1, max = 2, min = 3, average = 4 };

struct Membership {
  int rank = 0;
  int ranks = 1;
  const char* name = "";  // of the group, for NCCL's own log; copied
};

// A rank's part in the split of a communicator.
struct Division {
  static constexpr int no_color = -1;
  int color = no_color;   // ranks of one color, which is not negative, share a child; no_color: none
  int key = 0;            // the order of its ranks; of one key, by rank in the parent
  const char* name = "";  // of the child's group, for NCCL's own log; copied
};

// The one way to NCCL: what Parley needs of it, so that all above can run on a simulated one.
//
// Communicators do not block: what cannot end at once returns `in_progress`, and nothing but state() and
// abort() may be called for that communicator before state() has told the end. All calls about one are made
// one at a time, with its device entered (cuda::DeviceScope). Counts are elements; buffers are memory of the
// communicator's device; a collective is enqueued in `stream` and done in its order, without the call waiting
// for it. Thread-safety: calls about different communicators, from any thread; a group (begin_group to
// end_group) belongs to its thread. Nothing throws but what returns text.
class Library {
 public:
  virtual ~Library() = default;

  // For people: "unhandled system error (NCCL error 2)", and NCCL's own last words, if it has any.
  [[nodiscard]] virtual std::string describe(Result result) const = 0;
  [[nodiscard]] virtual int version() const noexcept = 0;  // 22809 is 2.28.9

  virtual Result make_unique_id(UniqueId& id) noexcept = 0;

  // Joins: the communicator is there at once, and is ready when state() says `success`, for which all ranks
  // have to join. On the entered device.
  virtual Result join(const UniqueId& id, const Membership& who, Communicator& communicator) noexcept = 0;
  // Splits it, for which all of its ranks have to do so. May wait for the device. Once state(communicator)
  // says `success` the child is there, null with no_color, and goes on like one that is joined; whichever of
  // the two ends first. NCCL writes `child` until state(communicator) has told the end or abort(communicator)
  // has returned, so it stays where it is till then; after a failure it may be a child that is good for
  // abort() alone.
  virtual Result split(Communicator communicator, const Division& part, Communicator& child) noexcept = 0;
  // How the last call about it goes on, or a failure of what is under way on its device.
  virtual Result state(Communicator communicator) noexcept = 0;

  // The good end: finish() once all ranks have done what they want with it, then, when state() says so,
  // destroy(), which frees it.
  virtual Result finish(Communicator communicator) noexcept = 0;
  virtual Result destroy(Communicator communicator) noexcept = 0;
  // The bad end, in any state: what is under way on the device ends, undone, and it is freed. May block for a
  // while. Nothing may be called for it afterwards.
  virtual Result abort(Communicator communicator) noexcept = 0;

  // What is called between the two is enqueued together, by end_group(): as one, where it is sends and
  // receives.
  virtual Result begin_group() noexcept = 0;
  virtual Result end_group() noexcept = 0;

  // Of each rank `count` elements, all folded into `to`. In place where from == to.
  virtual Result all_reduce(const void* from, void* to, std::size_t count, Type type, Fold fold,
                            Communicator communicator, cuda::Stream stream) noexcept = 0;
  // `to` is used on the root only.
  virtual Result reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, int root,
                        Communicator communicator, cuda::Stream stream) noexcept = 0;
  // `from` is used on the root only.
  virtual Result broadcast(const void* from, void* to, std::size_t count, Type type, int root,
                           Communicator communicator, cuda::Stream stream) noexcept = 0;
  // `to` has `count` elements of each rank. In place where from == to + rank * count elements.
  virtual Result all_gather(const void* from, void* to, std::size_t count, Type type,
                            Communicator communicator, cuda::Stream stream) noexcept = 0;
  // `from` has `count` elements for each rank. In place where to == from + rank * count elements.
  virtual Result reduce_scatter(const void* from, void* to, std::size_t count, Type type, Fold fold,
                                Communicator communicator, cuda::Stream stream) noexcept = 0;
  virtual Result send(const void* from, std::size_t count, Type type, int peer, Communicator communicator,
                      cuda::Stream stream) noexcept = 0;
  virtual Result receive(void* to, std::size_t count, Type type, int peer, Communicator communicator,
                         cuda::Stream stream) noexcept = 0;

  // A sum of elements that each rank multiplies by its `factor` first (of `type`, on the host; copied).
  virtual Result make_scaled_sum(const void* factor, Type type, Communicator communicator,
                                 Fold& fold) noexcept = 0;
  // What was enqueued with it goes on.
  virtual Result drop_scaled_sum(Fold fold, Communicator communicator) noexcept = 0;
};

}  // namespace parley::nccl
