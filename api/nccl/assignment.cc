#include "api/nccl/assignment.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tensor/reduce/choice.h"

namespace parley::nccl {

using schedule::Operation;

namespace {

std::optional<Type> type_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8: return Type::i8;
    case DType::u8: return Type::u8;
    case DType::i32: return Type::i32;
    case DType::i64: return Type::i64;
    case DType::f16: return Type::f16;
    case DType::bf16: return Type::bf16;
    case DType::f32: return Type::f32;
    case DType::f64: return Type::f64;
    default: return std::nullopt;
  }
}

// Nothing: NCCL's result would be another.
std::optional<Fold> fold_of(ReduceOp::Kind kind, DType dtype) noexcept {
  const bool is_floating = tensor::is_floating_point(dtype);
  switch (kind) {
    case ReduceOp::sum: return Fold::sum;
    case ReduceOp::product: return Fold::product;
    case ReduceOp::min: return is_floating ? std::nullopt : std::optional(Fold::min);
    case ReduceOp::max: return is_floating ? std::nullopt : std::optional(Fold::max);
    case ReduceOp::avg: return is_floating ? std::optional(Fold::average) : std::nullopt;
    // NCCL takes the factor in the elements' type, which would round it for the 16-bit ones.
    case ReduceOp::Kind::premul_sum:
      return dtype == DType::f32 || dtype == DType::f64 ? std::optional(Fold::sum) : std::nullopt;
    default: return std::nullopt;
  }
}

bool is_known(Operation operation) noexcept {
  switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::scatter:
    case Operation::gather:
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::all_to_all: return true;
    case Operation::barrier:
    case Operation::scan:
    case Operation::exscan: break;
  }
  return false;
}

// Enqueues one assignment. The first failure stays, and nothing is called after it.
class Clerk {
 public:
  Clerk(Library& library, Communicator communicator, const Assignment& of, const std::byte* input,
        std::byte* output, cuda::Stream stream) noexcept
      : library_(library),
        communicator_(communicator),
        of_(of),
        input_(input),
        output_(output),
        stream_(stream) {}

  Result enqueue(Fold fold) noexcept {
    const std::size_t count = of_.count * of_.units;
    switch (of_.operation) {
      case Operation::all_reduce:
        return library_.all_reduce(input_, output_, count, of_.type, fold, communicator_, stream_);
      case Operation::reduce: return reduce_to(of_.root, input_, output_, of_.count, fold);
      case Operation::broadcast: return broadcast_from(of_.root, input_, output_, of_.count);
      case Operation::all_gather:
        if (of_.counts.empty())
          return library_.all_gather(input_, output_, count, of_.type, communicator_, stream_);
        return for_each_rank([&](int root, std::size_t begin, std::uint64_t own) {
          return broadcast_from(root, input_, output_ + begin, own);
        });
      case Operation::reduce_scatter:
        if (of_.counts.empty())
          return library_.reduce_scatter(input_, output_, count, of_.type, fold, communicator_, stream_);
        return for_each_rank([&](int root, std::size_t begin, std::uint64_t own) {
          return reduce_to(root, input_ + begin, output_, own, fold);
        });
      case Operation::scatter: return scatter();
      case Operation::gather: return gather();
      case Operation::all_to_all: return exchange();
      default: return Result::invalid_argument;
    }
  }

 private:
  [[nodiscard]] std::uint64_t count_of(int rank) const noexcept {
    return of_.counts.empty() ? of_.count : of_.counts[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::uint64_t count_from(int rank) const noexcept {
    return of_.receive_counts.empty() ? of_.count : of_.receive_counts[static_cast<std::size_t>(rank)];
  }

  Result reduce_to(int root, const std::byte* from, std::byte* to, std::uint64_t count, Fold fold) noexcept {
    return library_.reduce(from, of_.rank == root ? to : nullptr, count * of_.units, of_.type, fold, root,
                           communicator_, stream_);
  }
  Result broadcast_from(int root, const std::byte* from, std::byte* to, std::uint64_t count) noexcept {
    return library_.broadcast(of_.rank == root ? from : to, to, count * of_.units, of_.type, root,
                              communicator_, stream_);
  }
  Result send(const std::byte* from, std::uint64_t count, int to) noexcept {
    if (count == 0) return Result::success;
    return library_.send(from, count * of_.units, of_.type, to, communicator_, stream_);
  }
  Result receive(std::byte* to, std::uint64_t count, int from) noexcept {
    if (count == 0) return Result::success;
    return library_.receive(to, count * of_.units, of_.type, from, communicator_, stream_);
  }

  // Blocks of all ranks that lie one after another: `each(rank, first byte, elements)`.
  template <typename Each>
  Result for_each_rank(const Each& each) noexcept {
    std::size_t begin = 0;
    for (int rank = 0; rank < of_.ranks; ++rank) {
      const std::uint64_t count = count_of(rank);
      const Result result = count == 0 ? Result::success : each(rank, begin, count);
      if (has_failed(result)) return result;
      begin += count * of_.element_bytes;
    }
    return Result::success;
  }

  // In place the root's own block is where it belongs already.
  Result scatter() noexcept {
    if (of_.rank != of_.root) return receive(output_, count_of(of_.rank), of_.root);
    return for_each_rank([&](int rank, std::size_t begin, std::uint64_t count) {
      if (rank == of_.rank && input_ + begin == output_) return Result::success;
      const Result sent = send(input_ + begin, count, rank);
      return rank == of_.rank && !has_failed(sent) ? receive(output_, count, rank) : sent;
    });
  }
  Result gather() noexcept {
    if (of_.rank != of_.root) return send(input_, count_of(of_.rank), of_.root);
    return for_each_rank([&](int rank, std::size_t begin, std::uint64_t count) {
      if (rank == of_.rank && output_ + begin == input_) return Result::success;
      const Result received = receive(output_ + begin, count, rank);
      return rank == of_.rank && !has_failed(received) ? send(input_, count, rank) : received;
    });
  }
  Result exchange() noexcept {
    std::size_t sent = 0, received = 0;
    for (int rank = 0; rank < of_.ranks; ++rank) {
      Result result = send(input_ + sent, count_of(rank), rank);
      if (!has_failed(result)) result = receive(output_ + received, count_from(rank), rank);
      if (has_failed(result)) return result;
      sent += count_of(rank) * of_.element_bytes;
      received += count_from(rank) * of_.element_bytes;
    }
    return Result::success;
  }

  Library& library_;
  const Communicator communicator_;
  const Assignment& of_;
  const std::byte* const input_;
  std::byte* const output_;
  const cuda::Stream stream_;
};

}  // namespace

std::optional<Assignment> assignment_for(const collective::Call& call, const std::optional<ReduceOp>& op,
                                         int rank, int ranks) {
  const collective::Question& question = call.question;
  if (!is_known(question.operation)) return std::nullopt;
  Assignment assignment{.operation = question.operation, .rank = rank, .ranks = ranks};
  assignment.root = static_cast<int>(question.root);
  assignment.element_bytes = assignment.units = question.element_bytes;
  assignment.count = question.count;
  assignment.counts.assign(question.counts.begin(), question.counts.end());
  assignment.receive_counts.assign(question.receive_counts.begin(), question.receive_counts.end());
  if (!op) return assignment;
  const DType dtype = call.signature.dtype;
  const auto type = type_of(dtype);
  const auto fold = fold_of(op->kind(), dtype);
  if (!type || !fold || question.rank_order) return std::nullopt;
  assignment.type = *type;
  assignment.units = 1;
  assignment.fold = *fold;
  if (op->kind() == ReduceOp::Kind::premul_sum) assignment.factor = tensor::factor_of(*op, dtype);
  return assignment;
}

bool needs_own_input(const Assignment& assignment, std::span<const std::byte> input,
                     std::span<const std::byte> output) noexcept {
  const std::less<> lies_before;
  const bool overlap = !input.empty() && !output.empty() &&
                       lies_before(input.data(), output.data() + output.size()) &&
                       lies_before(output.data(), input.data() + input.size());
  if (!overlap) return false;
  if (assignment.operation == Operation::all_to_all) return true;
  const bool is_same = input.data() == output.data() && input.size() == output.size();
  return assignment.factor.has_value() && !is_same;
}

Result enqueue(Library& library, Communicator communicator, const Assignment& assignment, Fold fold,
               const std::byte* input, std::byte* output, cuda::Stream stream) noexcept {
  if (const Result begun = library.begin_group(); begun != Result::success) return begun;
  const Result told = Clerk(library, communicator, assignment, input, output, stream).enqueue(fold);
  const Result ended = library.end_group();  // in any case, or the next one would be inside this one
  return has_failed(told) ? told : ended;
}

}  // namespace parley::nccl
