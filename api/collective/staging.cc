// What a run does before its first step and after its last: a schedule works on one piece of memory for the
// input and one for the output, and callers may have them in several.
#include <algorithm>
#include <bit>
#include <cstring>

#include "api/collective/run.h"

namespace parley::collective {

namespace {
// Copied or reduced between two looks at the network: some 10 us.
constexpr std::uint64_t piece_bytes = 256 << 10;
}  // namespace

std::uint64_t Run::piece_count() const noexcept {
  return piece_bytes >> std::countr_zero(call_->question.element_bytes);  // a power of 2
}

void Run::prepare_staging() {
  is_staged_ = true;
  const Call& call = *call_;
  const std::uint64_t element_bytes = call.question.element_bytes;
  for (const Tensor& tensor : call.inputs)
    sources_.push_back({const_cast<std::byte*>(tensor.data()), tensor.numel()});  // read only
  for (const Tensor& tensor : call.outputs) targets_.push_back({tensor.mutable_data(), tensor.numel()});
  if (call.inputs.empty() && call.reduction != nullptr && call.reduction->prepares())
    sources_.push_back({const_cast<std::byte*>(call.input), call.input_count});
  if (!sources_.empty()) {
    staged_input_ = scratch_pool_.take(call.input_count * element_bytes);
    input_ = staged_input_.data();
  }
  if (!targets_.empty()) {
    staged_output_ = scratch_pool_.take(call.output_count * element_bytes);
    output_ = staged_output_.data();
  }
}

// Visits what one turn is long enough for. False: there is more.
template <typename Visit>
bool Run::visit_piece(const std::vector<Block>& blocks, const Visit& visit) noexcept {
  const std::uint64_t element_bytes = call_->question.element_bytes;
  for (std::uint64_t left = piece_count(); cursor_.block < blocks.size();) {
    if (left == 0) return false;
    const Block& block = blocks[cursor_.block];
    const std::uint64_t count = std::min(left, block.count - cursor_.offset);
    if (count != 0) visit(block.data + cursor_.offset * element_bytes, cursor_.place * element_bytes, count);
    left -= count;
    cursor_.offset += count;
    cursor_.place += count;
    if (cursor_.offset == block.count) {
      ++cursor_.block;
      cursor_.offset = 0;
    }
  }
  cursor_ = {};
  return true;
}

// Brings the input together, and prepares it (premul_sum). False: there is more of it.
bool Run::open_pieces() noexcept {
  const tensor::Reduction* const reduction = call_->reduction.get();
  const bool prepares = reduction != nullptr && reduction->prepares();
  const bool is_done =
      visit_piece(sources_, [&](const std::byte* from, std::uint64_t place, std::uint64_t count) {
        std::byte* const to = staged_input_.data() + place;
        if (prepares)
          reduction->prepare(to, from, count);
        else
          std::memcpy(to, from, count * call_->question.element_bytes);
      });
  if (is_done) sources_.clear();
  return is_done;
}

// Finishes the result and hands it out. False: there is more of it.
bool Run::close_pieces() noexcept {
  return finish_pieces() &&
         visit_piece(targets_, [&](std::byte* to, std::uint64_t place, std::uint64_t count) {
           std::memcpy(to, staged_output_.data() + place, count * call_->question.element_bytes);
         });
}

// What is to be done with the result once all ranks are in it (avg). False: there is more of it.
bool Run::finish_pieces() noexcept {
  if (call_->reduction == nullptr || !call_->reduction->finishes()) return true;
  const std::uint64_t count = std::min(call_->output_count - finished_, piece_count());
  if (count != 0)
    call_->reduction->finish(output_ + finished_ * call_->question.element_bytes, count,
                             static_cast<std::int64_t>(lane_.team.processes.size()));
  finished_ += count;
  return finished_ == call_->output_count;
}

}  // namespace parley::collective
