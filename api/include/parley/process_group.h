#pragma once

#include <parley/collectives.h>
#include <parley/dtype.h>
#include <parley/export.h>
#include <parley/message.h>
#include <parley/tensor.h>
#include <parley/types.h>
#include <parley/work.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace parley {

struct P2POp;
class PersistentRequest;

namespace detail {
struct GroupState;
struct GroupAccess;
}  // namespace detail

// A set of processes that exchange tensors. Copies are handles to the same group. Ranks passed to its methods
// and returned by them are ranks in this group; errors name ranks of the world.
//
// Messages match by group, source and tag; those of one source never overtake each other. Element types must
// agree (MismatchError), except that `bytes` views match everything. A shorter message into a longer tensor
// succeeds and RecvStatus::bytes tells its size; a longer one is a TruncationError of that receive alone.
// Tensors must be contiguous (UsageError); all of one collective are on one device. Operations on a device's
// memory are done in the order of the stream that is current when they are called (StreamGuard), return when
// they are matched and the device has been told, and send only after the match.
//
// Thread-safety: point-to-point calls and calls on different groups may come from any thread at any time;
// collectives of one group are issued in one order on every rank. Groups that work by NCCL (describe()) have
// one order together: what they do on one device, batches and splits of their communicators too, is issued
// in the same order on every rank, as NCCL asks for. Else ranks may wait for each other until the timeout.
//
// Errors: every blocking call ends by its deadline and throws an Error that names the peer; see
// <parley/error.h>. A call in a forked child throws ForkedError.
class PARLEY_API ProcessGroup {
 public:
  ProcessGroup() noexcept = default;  // no group; every call but the destructor throws UsageError

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // This process's rank among those of its host, to choose a device by: LOCAL_RANK, else the number of lower
  // ranks there.
  [[nodiscard]] int local_rank() const;

  // Groups of some ranks. Each is a world of its own for messages: what is sent in one matches receives in it
  // only, and it fails for the deaths of its own members only. Making one needs the store, and every member:
  // the call returns when all members have made it. This process leaves a group with its last handle and the
  // last of its operations there; members that still wait for it then get PeerLeftError.
  //
  // Thread-safety: several threads may make groups at once. Calls with equal lists pair in the order in which
  // each member makes them, and so do calls of split() on one group. split(), split_by_host() and dup() of a
  // group that works on devices by NCCL are collectives of it as well: issued in one order with the others on
  // every rank. They split its communicator, once the device has done what that was told, with GroupOptions'
  // timeout again or the group's; if that fails, so do this group's collectives, and the new group is there.
  // NCCL allocates in a split, for which CUDA may wait for all that the device does, also for other groups: a
  // collective that one rank calls before it and another one after it waits as the split does.
  // Errors: UsageError for an empty list, ranks out of range or twice, an unknown algorithm; MismatchError
  // showing both calls when members differ in order, name or algorithms, or wait for each other in different
  // calls; PeerDiedError, PeerLeftError; TimeoutError naming who has not come and what it waits for;
  // StoreLostError. All members get the same.

  // The ranks (of this group) in the order given. Called by the members; to others it returns at once a group
  // of which they are no member.
  ProcessGroup new_group(std::span<const int> ranks, const GroupOptions& options = {});
  ProcessGroup new_group(std::initializer_list<int> ranks, const GroupOptions& options = {}) {
    return new_group(std::span<const int>(ranks.begin(), ranks.size()), options);
  }
  // Called by all ranks of this group: those who give the same color are a group, ordered by key, then by
  // rank in this one. A negative color: none, and the group returned has no members.
  ProcessGroup split(int color, int key = 0, const GroupOptions& options = {});
  // Called by all ranks, too: those of each host are a group.
  ProcessGroup split_by_host(const GroupOptions& options = {});
  // The same ranks, with messages of their own: what a library keeps for itself.
  ProcessGroup dup(const GroupOptions& options = {});

  // Who is no member has rank -1, and gets UsageError for what is the members' own: messages, batches,
  // objects, collectives and their plans, split() and dup(), acknowledge_failures(), abort(). It may ask for
  // ranks, size and name, describe() the group, name a part of it with new_group(), and call what is of the
  // process: local_rank(), shared_tensor(), progress(), fd().
  [[nodiscard]] bool is_member() const;
  [[nodiscard]] std::string name() const;  // "world", or as it was given
  // From a rank of this group to that in the world, and back. UsageError for no member.
  [[nodiscard]] int global_rank(int group_rank) const;
  [[nodiscard]] int group_rank(int global_rank) const;

  // Blocking. A send returns when its buffer may be reused (`synchronous`: when the receive was matched),
  // which for small messages is at once.
  void send(const Tensor& tensor, int destination, const SendOptions& options = {});
  RecvStatus recv(const Tensor& tensor, int source, const RecvOptions& options = {});
  // Both at once, without a deadlock when two ranks exchange.
  RecvStatus sendrecv(const Tensor& out, int destination, const Tensor& in, int source,
                      const SendRecvOptions& options = {});

  // Non-blocking; the operation goes on while the caller computes.
  [[nodiscard]] Work isend(const Tensor& tensor, int destination, const SendOptions& options = {});
  [[nodiscard]] Work irecv(const Tensor& tensor, int source, const RecvOptions& options = {});

  // Several at once: receives are posted before sends, and what goes to one rank leaves together. The Works
  // are in the order of `ops`; one that fails at once says so when it is waited for. Nothing was started when
  // this throws UsageError: for an empty batch, or naming the operation that is wrong. See <parley/batch.h>.
  std::vector<Work> batch_isend_irecv(std::span<const P2POp> ops);
  std::vector<Work> batch_isend_irecv(std::initializer_list<P2POp> ops);

  // Prepared once, to be started many times: <parley/persistent.h>.
  PersistentRequest send_init(const Tensor& tensor, int destination, const SendOptions& options = {});
  PersistentRequest recv_init(const Tensor& tensor, int source, const RecvOptions& options = {});

  // One value. (Spans, vectors and arrays convert to a Tensor.)
  template <typename T>
  requires has_dtype<T>
  void send(const T& value, int destination, const SendOptions& options = {}) {
    send(Tensor(std::span<const T>(&value, 1)), destination, options);
  }
  template <typename T>
  requires has_dtype<T> T recv(int source, const RecvOptions& options = {}) {
    T value{};
    recv(Tensor(std::span<T>(&value, 1)), source, options);
    return value;
  }
  template <typename T>
  requires has_dtype<T> T sendrecv(const T& out, int destination, int source,
                                   const SendRecvOptions& options = {}) {
    T in{};
    sendrecv(Tensor(std::span<const T>(&out, 1)), destination, Tensor(std::span<T>(&in, 1)), source, options);
    return in;
  }
  // The value stays where it is until the operation has ended: no temporaries.
  template <typename T>
  requires has_dtype<T> Work isend(const T& value, int destination, const SendOptions& options = {}) {
    return isend(Tensor(std::span<const T>(&value, 1)), destination, options);
  }
  template <typename T>
  requires has_dtype<T> Work isend(const T&& value, int destination, const SendOptions& options = {})
  = delete;
  template <typename T>
  requires has_dtype<T> Work irecv(T& value, int source, const RecvOptions& options = {}) {
    return irecv(Tensor(std::span<T>(&value, 1)), source, options);
  }

  // A tensor whose memory the other ranks of this host can read. A message of more than PARLEY_EAGER_LIMIT
  // from it or a part of it is copied once, by its receiver, without a system call and without this rank's
  // CPU; one of more than 8 KiB mostly so, if the receiver waits for it. The first to a peer may go another
  // way, and all do to one that cannot map the memory. It may be received into any tensor. Collectives of
  // 64 KiB and more read it where it lies, too, and end when the others have done so. In all else this is a
  // tensor that owns its memory, with indeterminate elements, and where no memory can be shared it is nothing
  // more than that.
  //
  // Ownership: of the tensor, its copies and parts. The last of them gives the memory back for later shared
  // tensors; until then it stays valid, also when the group was destroyed. The system has it back when the
  // group and all its shared tensors are gone, or the process is. A forked child shares the memory: each sees
  // what the other writes.
  // Thread-safety: any thread. Errors: UsageError as for Tensor::empty(); ResourceError.
  [[nodiscard]] Tensor shared_tensor(const Shape& shape, DType dtype = DType::f32);

  // A receive from any source fails once a rank of the group has died, and so do later ones, until this call
  // says that the caller knows.
  void acknowledge_failures();

  // The next message that a receive with these arguments would get, taken out of matching. probe() waits for
  // it.
  Message probe(int source, const RecvOptions& options = {});
  std::optional<Message> iprobe(int source, const RecvOptions& options = {});

  // Collectives: called by all ranks of the group, in one order. Element types, sizes, roots and operators
  // agree on all ranks, else all get a MismatchError that shows what two of them have called. After any
  // failure the group's collectives are over: later calls throw the same. At most 64 of a group are under
  // way; one more waits for the oldest.
  //
  // In place: `out` and `in` may be the same memory, or one of them this rank's block of the other; other
  // overlaps are refused. Shapes matter only where it says so: else numbers of elements do. All tensors of a
  // call have one element type. UsageError for all that this rank can see: then nothing was started.

  // Every rank gets the elements of `root`.
  Work broadcast(const Tensor& tensor, int root, const CollectiveOptions& options = {});

  // Every rank, or only `root`, gets the elements of all ranks combined. Beside the root `out` is not used,
  // and a lone `tensor` only read.
  Work all_reduce(const Tensor& tensor, const ReduceOptions& options = {});
  Work all_reduce(const Tensor& out, const Tensor& in, const ReduceOptions& options = {});
  Work reduce(const Tensor& tensor, int root, const ReduceOptions& options = {});
  Work reduce(const Tensor& out, const Tensor& in, int root, const ReduceOptions& options = {});
  // Rank r gets the elements of ranks 0 to r combined; exscan: of ranks 0 to r - 1, and rank 0's stay as they
  // are. Not for avg.
  Work scan(const Tensor& tensor, const ReduceOptions& options = {});
  Work exscan(const Tensor& tensor, const ReduceOptions& options = {});

  // The root has a list of one tensor for each rank, and the others pass {}. With `uneven` they may differ in
  // size, and each is as large as the tensor of its rank.
  Work scatter(const Tensor& out, TensorList in, int root, const ListOptions& options = {});
  Work gather(TensorList out, const Tensor& in, int root, const ListOptions& options = {});

  // Every rank gets the tensors of all ranks. Those of the list may differ in size: the same on all ranks.
  Work all_gather(TensorList out, const Tensor& in, const CollectiveOptions& options = {});
  // The same into one tensor: in of shape [n, ...], out of [size() * n, ...] or [size(), n, ...].
  Work all_gather_into_tensor(const Tensor& out, const Tensor& in, const CollectiveOptions& options = {});

  // Rank r gets tensor r of all ranks' lists combined. They may differ in size: the same on all ranks.
  Work reduce_scatter(const Tensor& out, TensorList in, const ReduceOptions& options = {});
  // The same from one tensor: out of shape [n, ...], in of [size() * n, ...] or [size(), n, ...].
  Work reduce_scatter_tensor(const Tensor& out, const Tensor& in, const ReduceOptions& options = {});

  // Tensor r of `in` goes to rank r, and tensor r of `out` comes from there. With `uneven` they may differ in
  // size; what two ranks give and take agrees.
  Work all_to_all(TensorList out, TensorList in, const ListOptions& options = {});
  // The same with the parts of two tensors, which are cut along the first dimension; all others agree.
  Work all_to_all_single(const Tensor& out, const Tensor& in, const SplitOptions& options = {});

  // For people: which algorithm a collective ("all_reduce") would take for `bytes`, and why. Bytes of the
  // whole vector in broadcast, reductions and scans, of one rank's block in all others; of a barrier 0.
  // UsageError for an unknown operation, and unless `bytes` are whole elements.
  [[nodiscard]] std::string describe_plan(std::string_view operation, std::size_t bytes,
                                          const PlanOptions& options = {}) const;

  // Ends after every rank of the group has called it.
  Work barrier(const CollectiveOptions& options = {});
  // A barrier for debugging: rank 0 waits `timeout` for all others, and all of them return, or none. If not,
  // rank 0 and who has come throw TimeoutError with the ranks that have not, and who comes later does at
  // once. Costs a message to and from rank 0 for each rank. Rank 0 alone looks at `timeout`.
  // It is no collective in the sense above: other collectives may be under way, it may come between any two
  // of them, and a failure ends nothing but this call.
  void monitored_barrier(const MonitoredBarrierOptions& options = {});

  // Makes progress without waiting; the number of events, 0 when idle. For those who embed Parley in an event
  // loop: wait until fd() is readable (level-triggered), then call progress() until it returns 0, and look at
  // your Works. The descriptor belongs to the world; do not read from it.
  std::size_t progress();
  [[nodiscard]] int fd() const;

  // Ends every operation of the group, here and on the other ranks, with AbortedError; all waiters return
  // within 100 ms. Later calls throw the same. Safe from any thread.
  void abort(std::string_view reason);

  // This process's address card, its links, and how the group works on devices once it has: for people, one
  // line each.
  [[nodiscard]] std::string describe() const;

 private:
  friend struct detail::GroupAccess;
  std::shared_ptr<detail::GroupState> state_;
};

}  // namespace parley
