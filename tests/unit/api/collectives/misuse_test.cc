// What a collective refuses before anything is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;

using Call = std::function<void(ProcessGroup&)>;
struct Misuse {
  Call call;
  const char* text;
};

// Every rank gets the text, and the group still works.
void expect_refused(const std::vector<Misuse>& misuses) {
  run_world(2, [&](ProcessGroup& group) {
    for (const Misuse& misuse : misuses)
      EXPECT_THAT(error_text<UsageError>([&] { misuse.call(group); }), HasSubstr(misuse.text));
    const Tensor tensor = Tensor::ones(1);
    group.all_reduce(tensor);
    EXPECT_EQ(tensor.item(), 2);
  });
}

TEST(CollectiveMisuse, NamesARootThatIsNoRank) {
  const Tensor tensor = Tensor::ones(4);
  expect_refused({
      {[&](auto& group) { group.broadcast(tensor, 2); },
       "broadcast: root rank 2 is out of range: valid ranks are 0 to 1"},
      {[&](auto& group) { group.reduce(tensor, -1); }, "reduce: root rank -1 is out of range"},
      {[&](auto& group) { group.scatter(tensor, {}, 7); }, "scatter: root rank 7 is out of range"},
      {[&](auto& group) { group.gather({}, tensor, 7); }, "gather: root rank 7 is out of range"},
  });
}

TEST(CollectiveMisuse, NamesATensorThatCannotBeUsed) {
  const Tensor strided = Tensor::zeros({4, 4}).narrow(1, 0, 2);
  const std::vector<float> constant(4);
  const Tensor read_only(constant), good = Tensor::zeros(4);
  expect_refused({
      {[&](auto& group) { group.all_reduce(strided); }, "all_reduce: the tensor is not contiguous"},
      {[&](auto& group) { group.all_reduce(read_only); }, "all_reduce: the tensor is a view of const memory"},
      {[&](auto& group) {
         group.all_gather({good, read_only}, good);
       },
       "all_gather: 1 of the list: the tensor is a view of const memory"},
  });
}

TEST(CollectiveMisuse, ShowsSizesAndTypesThatDoNotAgree) {
  const Tensor four = Tensor::zeros(4), five = Tensor::zeros(5), whole = Tensor::zeros(4, DType::i32);
  expect_refused({
      {[&](auto& group) { group.all_reduce(five, four); }, "all_reduce: out has 5 elements, in 4"},
      {[&](auto& group) { group.all_reduce(whole, four); }, "all_reduce: out is of i32, in of f32"},
      {[&](auto& group) {
         group.all_gather({four, whole}, four);
       },
       "all_gather: tensor 1 of the list is of i32, another one of the call of f32"},
      {[&](auto& group) { group.all_gather({four}, four); },
       "all_gather: the list has 1 tensors, the group 2 ranks"},
      {[&](auto& group) {
         group.all_gather({five, five}, four);
       },
       "all_gather: out has 5 elements, in 4"},
      {[&](auto& group) {
         group.all_to_all({four, four}, {four, five});
       },
       "all_to_all: tensor 0 of the list has 4 elements, tensor 1 5; say {.uneven = true} on all ranks"},
  });
}

TEST(CollectiveMisuse, ShowsShapesThatDoNotFit) {
  const Tensor two = Tensor::zeros({2, 3}), flat = Tensor::zeros(12), three = Tensor::zeros({3, 3});
  const Tensor single = Tensor::zeros(Shape());
  expect_refused({
      {[&](auto& group) { group.all_gather_into_tensor(flat, two); },
       "all_gather_into_tensor: out has the shape [12], and in [2, 3] of each of 2 ranks do not fill it"},
      {[&](auto& group) { group.reduce_scatter_tensor(two, two); },
       "reduce_scatter_tensor: in has the shape [2, 3], and out [2, 3] of each of 2 ranks do not fill it"},
      {[&](auto& group) { group.all_to_all_single(three, three); },
       "all_to_all_single: the first dimension of in, 3, is no multiple of 2"},
      {[&](auto& group) {
         group.all_to_all_single(two, two, {.input_split_sizes = {1, 2}});
       },
       "all_to_all_single: the sizes for in do not sum up to 2, its first dimension"},
      {[&](auto& group) { group.all_to_all_single(two, two, {.output_split_sizes = {2}}); },
       "all_to_all_single: 1 sizes are given for out, the group has 2 ranks"},
      {[&](auto& group) { group.all_to_all_single(single, single); },
       "all_to_all_single: in has no dimension to be split along"},
  });
}

TEST(CollectiveMisuse, RefusesBuffersThatOverlapOtherwiseThanInPlace) {
  const Tensor memory = Tensor::zeros(9);
  const Tensor first = memory.narrow(0, 0, 4), shifted = memory.narrow(0, 1, 4);
  expect_refused({
      {[&](auto& group) { group.all_reduce(first, shifted); },
       "all_reduce: input and output overlap, and not as they do in place"},
      {[&](auto& group) { group.all_gather_into_tensor(memory.narrow(0, 0, 8), shifted); },
       "all_gather_into_tensor: input and output overlap"},
  });
}

TEST(CollectiveMisuse, SaysWhyAnOperatorDoesNotSuitAType) {
  const Tensor complex = Tensor::zeros(4, DType::complex64), real = Tensor::zeros(4);
  expect_refused({
      {[&](auto& group) { group.all_reduce(complex, {.op = ReduceOp::min}); },
       "all_reduce: min of complex64: complex numbers have no order"},
      {[&](auto& group) { group.reduce(real, 0, {.op = ReduceOp::bxor}); }, "reduce: bxor of f32: bitwise"},
      {[&](auto& group) { group.scan(real, {.op = ReduceOp::avg}); }, "scan: avg is for all ranks alike"},
      {[&](auto& group) { group.exscan(real, {.op = ReduceOp::avg}); }, "exscan: avg is for all ranks alike"},
  });
}

TEST(CollectiveMisuse, AListIsTheRootsOnly) {
  const Tensor tensor = Tensor::zeros(1);
  run_world(2, [&](ProcessGroup& group) {
    if (group.rank() == 0) {
      EXPECT_THAT(error_text<UsageError>([&] { group.gather({}, tensor, 0); }),
                  HasSubstr("gather: the list has 0 tensors, the group 2 ranks"));
    } else {
      EXPECT_THAT(error_text<UsageError>([&] {
                    group.gather({tensor, tensor}, tensor, 0);
                  }),
                  HasSubstr("gather: a list was given, and this rank is not the root"));
    }
  });
}

TEST(CollectiveMisuse, DescribesPlansOfWhatThereIs) {
  run_world(2, [](ProcessGroup& group) {
    EXPECT_THAT(group.describe_plan("all_reduce", 1024),
                HasSubstr("all_reduce of 1024 bytes on 2 ranks of 1 host"));
    EXPECT_THAT(error_text<UsageError>([&] { static_cast<void>(group.describe_plan("allreduce", 8)); }),
                HasSubstr("describe_plan: \"allreduce\" is none of broadcast, reduce, all_reduce"));
    EXPECT_THAT(error_text<UsageError>([&] { static_cast<void>(group.describe_plan("scan", 7)); }),
                HasSubstr("describe_plan: 7 bytes are no whole elements of f32"));
  });
}

TEST(CollectiveMisuse, SplitSizesWhoseSumBeginsAnewAreRefused) {
  testing::run_world(3, [](ProcessGroup& world) {
    const Tensor in = Tensor::zeros({6, 4}), out = Tensor::zeros({6, 4});
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const SplitOptions options{.output_split_sizes = {2, 2, 2}, .input_split_sizes = {most, most, 8}};
    EXPECT_THROW(world.all_to_all_single(out, in, options), UsageError);
  });
}

}  // namespace
}  // namespace parley
