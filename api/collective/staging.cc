// What a run does before its first step and after its last: a schedule works on one piece of memory for the
// input and one for the output, and callers may have them in several.
#include <algorithm>
#include <bit>
#include <limits>

#include "api/collective/run.h"
#include "transport/base/copy_bulk.h"
#include "transport/base/non_temporal.h"

namespace parley::collective {

using schedule::Space;

namespace {
// Copied or reduced between two looks at the network: some 10 us.
constexpr std::uint64_t piece_bytes = 256 << 10;
}  // namespace

std::uint64_t Run::piece_count() const noexcept {
  if (device_) return std::numeric_limits<std::uint64_t>::max();          // to tell it takes no time
  return piece_bytes >> std::countr_zero(call_->question.element_bytes);  // a power of 2
}

std::byte* Run::take_room(DeviceSide::Room room, ScratchPool::Memory& memory, std::size_t bytes) {
  if (device_) return device_->take(room, bytes);
  memory = scratch_pool_.take(bytes);
  return memory.data();
}

void Run::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (device_) [[unlikely]]
    device_->copy(to, from, bytes);
  else if (to != from)  // lent: it lies where it shall be
    base::copy_bulk(to, from, bytes);
}

// To where others read it, or `peer` alone.
void Run::show(std::uint32_t peer, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (device_ || to == from) [[unlikely]]
    return copy(to, from, bytes);
  base::store_as_chosen(
      lane_.sharing.stores.of(peer), from, bytes,
      [=](std::size_t at, std::size_t piece) { base::copy_bulk(to + at, from + at, piece); },
      [=] { base::copy_past_caches(to, from, bytes); });
}

void Run::prepare_elements(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  if (device_)
    device_->prepare(to, from, count);
  else
    call_->reduction->prepare(to, from, count);
}

void Run::finish_elements(std::byte* elements, std::size_t count) noexcept {
  const auto ranks = static_cast<std::int64_t>(lane_.team.processes.size());
  if (device_)
    device_->finish(elements, count, ranks);
  else
    call_->reduction->finish(elements, count, ranks);
}

void Run::prepare_staging() {
  is_staged_ = true;
  const Call& call = *call_;
  const std::uint64_t element_bytes = call.question.element_bytes;
  for (const Tensor& tensor : call.inputs)
    sources_.push_back({const_cast<std::byte*>(tensor.data()), tensor.numel()});  // read only
  for (const Tensor& tensor : call.outputs) targets_.push_back({tensor.mutable_data(), tensor.numel()});
  if (call.inputs.empty() && prepares())
    sources_.push_back({const_cast<std::byte*>(call.input), call.input_count});
  if (!sources_.empty()) {
    memory_of(Space::input) =
        take_room(DeviceSide::Room::input, staged_input_, call.input_count * element_bytes);
  }
  if (!targets_.empty()) {
    memory_of(Space::output) =
        take_room(DeviceSide::Room::output, staged_output_, call.output_count * element_bytes);
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
  std::byte* const staged = memory_of(Space::input);
  const bool is_done =
      visit_piece(sources_, [&](const std::byte* from, std::uint64_t place, std::uint64_t count) {
        if (prepares())
          prepare_elements(staged + place, from, count);
        else
          copy(staged + place, from, count * call_->question.element_bytes);
      });
  if (is_done) sources_.clear();
  return is_done;
}

// Finishes the result and hands it out. False: there is more of it.
bool Run::close_pieces() noexcept {
  return finish_pieces() &&
         visit_piece(targets_, [&](std::byte* to, std::uint64_t place, std::uint64_t count) {
           copy(to, memory_of(Space::output) + place, count * call_->question.element_bytes);
         });
}

// What is to be done with the result once all ranks are in it (avg). False: there is more of it.
bool Run::finish_pieces() noexcept {
  if (!finishes()) return true;
  const std::uint64_t count = std::min(call_->output_count - finished_, piece_count());
  if (count != 0)
    finish_elements(memory_of(Space::output) + finished_ * call_->question.element_bytes, count);
  finished_ += count;
  return finished_ == call_->output_count;
}

}  // namespace parley::collective
