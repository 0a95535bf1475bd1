#include "tests/unit/api/collectives/every_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>
#include <vector>

#include "tests/unit/api/collectives/values.h"

namespace parley::testing {
namespace {

using Counts = std::vector<std::size_t>;

// One rank's view of a case.
struct View {
  ProcessGroup& group;
  const Case& of;
  std::size_t rank = static_cast<std::size_t>(group.rank());
  std::size_t size = static_cast<std::size_t>(group.size());
  bool is_root = group.rank() == of.root;

  [[nodiscard]] Tensor mine() const { return mine(of.count); }
  [[nodiscard]] Tensor mine(std::size_t count) const { return whole(given(group.rank(), count)); }
  [[nodiscard]] Tensor blank(std::size_t count) const {
    return placed(Tensor::zeros(static_cast<std::int64_t>(count), of.dtype, of.device));
  }
  [[nodiscard]] Tensor whole(const Values& values) const {
    const Tensor tensor = tensor_of(values, of.dtype);
    return of.device.is_cpu() ? placed(tensor) : tensor.to(of.device);
  }
  // A copy, where it is to lie in shared memory.
  [[nodiscard]] Tensor placed(const Tensor& tensor) const {
    if (!of.is_shared || tensor.numel() == 0) return tensor;
    const Tensor copy = group.shared_tensor(tensor.shape(), of.dtype);
    std::memcpy(copy.mutable_data(), tensor.data(), tensor.bytes());
    return copy;
  }
  // Zeros but for what this rank gives, which begins at `begin`.
  [[nodiscard]] Tensor around_mine(std::size_t total, std::size_t begin, std::size_t count) const {
    Values values(total);
    const Values own = given(group.rank(), count);
    std::copy(own.begin(), own.end(), values.begin() + static_cast<std::ptrdiff_t>(begin));
    return whole(values);
  }
  [[nodiscard]] ReduceOptions reducing() const { return {.async_op = of.async_op}; }
  [[nodiscard]] ListOptions listing(bool uneven) const { return {.uneven = uneven, .async_op = of.async_op}; }
  // Of the first `ranks`.
  [[nodiscard]] Values sum(std::size_t ranks, std::size_t count) const {
    std::vector<Values> all;
    for (std::size_t r = 0; r < ranks; ++r) all.push_back(given(static_cast<int>(r), count));
    return fold(all, std::plus<>());
  }
};

std::size_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

Values slice(const Values& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

Values joined(const std::vector<Tensor>& list) {
  Values all;
  for (const Tensor& tensor : list) {
    const Values own = values_of(tensor);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void expect_broadcast(const View& at) {
  const Tensor tensor = at.mine();
  at.group.broadcast(tensor, at.of.root, {.async_op = at.of.async_op}).wait();
  EXPECT_EQ(values_of(tensor), given(at.of.root, at.of.count)) << "broadcast";
}

void expect_reduce(const View& at) {
  const Tensor in = at.mine(), out = at.of.in_place ? in : at.blank(at.of.count);
  if (at.of.in_place)
    at.group.reduce(in, at.of.root, at.reducing()).wait();
  else
    at.group.reduce(out, in, at.of.root, at.reducing()).wait();
  if (at.is_root) {
    EXPECT_EQ(values_of(out), at.sum(at.size, at.of.count)) << "reduce";
  }
  if (!at.is_root || !at.of.in_place) {
    EXPECT_EQ(values_of(in), given(at.group.rank(), at.of.count));
  }
}

void expect_all_reduce(const View& at) {
  const Tensor in = at.mine(), out = at.of.in_place ? in : at.blank(at.of.count);
  at.group.all_reduce(out, in, at.reducing()).wait();
  EXPECT_EQ(values_of(out), at.sum(at.size, at.of.count)) << "all_reduce";
}

void expect_scans(const View& at) {
  Tensor tensor = at.mine();
  at.group.scan(tensor, at.reducing()).wait();
  EXPECT_EQ(values_of(tensor), at.sum(at.rank + 1, at.of.count)) << "scan";
  tensor = at.mine();
  at.group.exscan(tensor, at.reducing()).wait();
  EXPECT_EQ(values_of(tensor), at.rank == 0 ? given(0, at.of.count) : at.sum(at.rank, at.of.count))
      << "exscan";
}

// The root's list has given() of rank r for rank r.
void expect_scatter(const View& at, const Counts& counts, bool uneven) {
  std::vector<Tensor> list;
  if (at.is_root) list = parts_of(at.whole(given_by_all(counts)), counts, !at.of.in_place);
  const Tensor out = at.is_root && at.of.in_place ? list[at.rank] : at.blank(counts[at.rank]);
  at.group.scatter(out, list, at.of.root, at.listing(uneven)).wait();
  EXPECT_EQ(values_of(out), given(at.group.rank(), counts[at.rank])) << "scatter";
}

// Blocks in one piece of memory with this rank's own among them, where the call is in place; else apart.
std::vector<Tensor> list_around_mine(const View& at, const Counts& counts) {
  const std::size_t begin = sum_of({counts.begin(), counts.begin() + at.group.rank()});
  return parts_of(at.around_mine(sum_of(counts), begin, counts[at.rank]), counts, !at.of.in_place);
}

void expect_gather(const View& at, const Counts& counts, bool uneven) {
  std::vector<Tensor> list;
  if (at.is_root) list = list_around_mine(at, counts);
  const Tensor in = at.is_root && at.of.in_place ? list[at.rank] : at.mine(counts[at.rank]);
  at.group.gather(list, in, at.of.root, at.listing(uneven)).wait();
  if (at.is_root) {
    EXPECT_EQ(joined(list), given_by_all(counts)) << "gather";
  }
}

void expect_all_gather(const View& at, const Counts& counts) {
  const std::vector<Tensor> list = list_around_mine(at, counts);
  const Tensor in = at.of.in_place ? list[at.rank] : at.mine(counts[at.rank]);
  at.group.all_gather(list, in, {.async_op = at.of.async_op}).wait();
  EXPECT_EQ(joined(list), given_by_all(counts)) << "all_gather";
}

void expect_all_gather_into_tensor(const View& at) {
  const auto count = static_cast<std::int64_t>(at.of.count);
  const std::int64_t size = at.group.size();
  Tensor out = at.around_mine(at.size * at.of.count, at.rank * at.of.count, at.of.count), in = at.mine();
  if (at.of.in_place) {
    in = out.narrow(0, at.group.rank() * count, count);
    out = out.reshape({size, count});
  }
  at.group.all_gather_into_tensor(out, in, {.async_op = at.of.async_op}).wait();
  EXPECT_EQ(values_of(out), given_by_all(Counts(at.size, at.of.count))) << "all_gather_into_tensor";
}

// Every rank gives given() of all counts together.
void expect_reduce_scatter(const View& at, const Counts& counts) {
  const std::size_t total = sum_of(counts);
  const std::vector<Tensor> list = parts_of(at.whole(given(at.group.rank(), total)), counts, !at.of.in_place);
  const Tensor out = at.of.in_place ? list[at.rank] : at.blank(counts[at.rank]);
  at.group.reduce_scatter(out, list, at.reducing()).wait();
  const std::size_t begin = sum_of({counts.begin(), counts.begin() + at.group.rank()});
  EXPECT_EQ(values_of(out), slice(at.sum(at.size, total), begin, counts[at.rank])) << "reduce_scatter";
}

void expect_reduce_scatter_tensor(const View& at) {
  const auto count = static_cast<std::int64_t>(at.of.count);
  const std::size_t total = at.size * at.of.count;
  Tensor in = at.whole(given(at.group.rank(), total));
  const Tensor out = at.of.in_place ? in.narrow(0, at.group.rank() * count, count) : at.blank(at.of.count);
  if (!at.of.in_place) in = in.reshape({static_cast<std::int64_t>(at.group.size()), count});
  at.group.reduce_scatter_tensor(out, in, at.reducing()).wait();
  EXPECT_EQ(values_of(out), slice(at.sum(at.size, total), at.rank * at.of.count, at.of.count))
      << "reduce_scatter_tensor";
}

// What goes from one rank to another, the first elements of given(from) shifted by `to`.
Values parcel(std::size_t from, std::size_t to, std::size_t count) {
  return given(static_cast<int>(from + 2 * to), count);
}

void expect_all_to_all(const View& at, const std::function<std::size_t(std::size_t, std::size_t)>& count,
                       bool uneven) {
  Values mine, expected;
  Counts in_counts, out_counts;
  const auto append = [](Values& to, const Values& more) { to.insert(to.end(), more.begin(), more.end()); };
  for (std::size_t r = 0; r < at.size; ++r) {
    in_counts.push_back(count(at.rank, r));
    out_counts.push_back(count(r, at.rank));
    append(mine, parcel(at.rank, r, in_counts.back()));
    append(expected, parcel(r, at.rank, out_counts.back()));
  }
  const bool in_place = at.of.in_place && !uneven;
  const Tensor in = at.whole(mine), out = in_place ? in : at.blank(expected.size());
  const std::vector<Tensor> ins = parts_of(in, in_counts, !at.of.in_place);
  const std::vector<Tensor> outs = parts_of(out, out_counts, !at.of.in_place);
  at.group.all_to_all(outs, ins, at.listing(uneven)).wait();
  EXPECT_EQ(joined(outs), expected) << "all_to_all";

  SplitOptions options{.async_op = at.of.async_op};
  if (uneven) {
    options.output_split_sizes.assign(out_counts.begin(), out_counts.end());
    options.input_split_sizes.assign(in_counts.begin(), in_counts.end());
  }
  const Tensor again = at.whole(mine), result = in_place ? again : at.blank(expected.size());
  at.group.all_to_all_single(result, again, options).wait();
  EXPECT_EQ(values_of(result), expected) << "all_to_all_single";
}

}  // namespace

std::string Case::title(const ProcessGroup& group) const {
  std::ostringstream text;
  text << count << " " << name(dtype) << ", rank " << group.rank() << " of " << group.size() << ", root "
       << root << ", on " << device << (in_place ? ", in place" : "") << (is_shared ? ", shared" : "")
       << (async_op ? ", async" : "");
  return text.str();
}

void expect_every_collective(ProcessGroup& group, const Case& of) {
  SCOPED_TRACE(of.title(group));
  const View at{group, of};
  const Counts counts(at.size, of.count);
  expect_broadcast(at);
  expect_reduce(at);
  expect_all_reduce(at);
  expect_scans(at);
  expect_scatter(at, counts, false);
  expect_gather(at, counts, false);
  expect_all_gather(at, counts);
  expect_all_gather_into_tensor(at);
  expect_reduce_scatter(at, counts);
  expect_reduce_scatter_tensor(at);
  expect_all_to_all(
      at, [&](std::size_t, std::size_t) { return of.count; }, false);
}

void expect_uneven_collectives(ProcessGroup& group, const Case& of) {
  SCOPED_TRACE("uneven " + of.title(group));
  const View at{group, of};
  Counts counts;
  for (std::size_t r = 0; r < at.size; ++r) counts.push_back((r * 3 + 1) % 4 * of.count);
  expect_scatter(at, counts, true);
  expect_gather(at, counts, true);
  expect_all_gather(at, counts);
  expect_reduce_scatter(at, counts);
  expect_all_to_all(
      at, [&](std::size_t from, std::size_t to) { return (from * 2 + to) % 3 * of.count; }, true);
}

}  // namespace parley::testing
