// What a Work offers, where it is a collective's: completion functions, and operations without a handle. Each
// lasts over a second or ends badly, for then the engine interrupts who runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using namespace std::chrono_literals;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;

// The error that a completion function was given.
class Told {
 public:
  std::function<void(std::exception_ptr)> function() {
    return [this](std::exception_ptr error) { error_.set_value(error); };
  }
  std::exception_ptr get() { return error_.get_future().get(); }

 private:
  std::promise<std::exception_ptr> error_;
};

// Each rank learns it at one of its next calls: the deadline was its own or the other's.
void expect_deadline_told(ProcessGroup& group) {
  const auto call_until_told = [&] {
    std::vector<int> data(4);
    for (int call = 0; call < 10'000; ++call) group.all_reduce(data);
  };
  EXPECT_THAT(error_text<Error>(call_until_told),
              HasSubstr(group.rank() == 0 ? "it has timed out here before" : "the deadline has passed"));
}

TEST(CollectiveHandle, ACompletionFunctionHearsOfTheDeadline) {
  std::latch over(2);
  run_world(2, [&](ProcessGroup& group) {
    if (group.rank() == 0) {
      std::vector<int> data(4);
      Told told;
      Work work = group.all_reduce(data, {.async_op = true, .timeout = 30ms});
      work.then(told.function());
      const std::exception_ptr error = told.get();
      EXPECT_THROW(std::rethrow_exception(error), TimeoutError);
      EXPECT_THROW(work.wait(), TimeoutError);
    }
    over.arrive_and_wait();
    expect_deadline_told(group);
  });
}

TEST(CollectiveHandle, ADetachedOneKeepsItsDeadline) {
  std::latch over(1);
  run_world(2, [&](ProcessGroup& group) {
    if (group.rank() == 0) {
      const Tensor data = Tensor::zeros(4);
      group.all_reduce(data, {.async_op = true, .timeout = 30ms}).detach(data.owner());
      EXPECT_THROW(group.barrier(), Error) << "nobody comes, and the one before it has a deadline";
      over.count_down();
    } else {
      over.wait();
      expect_deadline_told(group);
    }
  });
}

TEST(CollectiveHandle, ACompletionFunctionHearsOfAnAbort) {
  std::latch begun(2);
  run_world(2, [&](ProcessGroup& group) {
    if (group.rank() == 0) {
      std::vector<int> data(4);
      Told told;
      Work work = group.all_reduce(data, {.async_op = true});
      work.then(told.function());
      begun.arrive_and_wait();
      const std::exception_ptr error = told.get();
      EXPECT_THROW(std::rethrow_exception(error), AbortedError);
      EXPECT_THROW(work.wait(), AbortedError);
    } else {
      begun.arrive_and_wait();
      group.abort("enough");
    }
  });
}

TEST(CollectiveHandle, ACompletionFunctionIsCalledAfterSeconds) {
  run_world(2, [](ProcessGroup& group) {
    if (group.rank() == 1) std::this_thread::sleep_for(2300ms);
    std::vector<int> data(4, group.rank() + 1);
    Told told;
    Work work = group.all_reduce(data, {.async_op = true});
    work.then(told.function());
    EXPECT_EQ(told.get(), nullptr);
    work.wait();
    EXPECT_EQ(data, std::vector<int>(4, 3));
  });
}

}  // namespace
}  // namespace parley
