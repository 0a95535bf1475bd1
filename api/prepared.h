#pragma once

#include <parley/tensor.h>
#include <parley/types.h>
#include <parley/work.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "api/failure.h"
#include "api/group_state.h"
#include "api/work_access.h"

namespace parley::detail {

// A send or receive whose arguments are checked, ready to be posted any number of times.
// Thread-safety: immutable.
class Prepared {
 public:
  // Throw UsageError.
  static Prepared send(std::shared_ptr<GroupState> group, const Tensor& tensor, int destination,
                       const SendOptions& options);
  static Prepared receive(std::shared_ptr<GroupState> group, const Tensor& tensor, int source,
                          const RecvOptions& options);

  [[nodiscard]] bool is_send() const noexcept { return is_send_; }
  [[nodiscard]] const std::shared_ptr<GroupState>& group() const noexcept { return group_; }

  // Posts it, and makes `work`, which is empty, its handle. A failed status: it failed at once, and the Work
  // stays empty.
  base::Status post(Work& work, transport::Engine::Visit& visit) const;
  // The error of that. REQUIRES: not the engine's lock.
  [[nodiscard]] std::exception_ptr failure(base::Status status) const;

 private:
  Prepared(std::shared_ptr<GroupState> group, const Tensor& tensor, const FailedOperation& description)
      : group_(std::move(group)), tensor_(tensor), description_(description) {}

  std::shared_ptr<GroupState> group_;
  Tensor tensor_;
  FailedOperation description_;
  bool is_send_ = false;
  int peer_ = 0;  // in the group
  transport::SendSpec send_;
  transport::ReceiveSpec receive_;
};

// Posts `count` of them in one visit: the receives, then the sends, and sends off what leaves together.
// `at(i)` is a pair of a Prepared and its empty Work; all are of one engine. What fails at once is left in
// its Work.
template <typename At>
void post_together(transport::Engine& engine, std::size_t count, At&& at) {
  std::vector<std::pair<std::size_t, base::Status>> failed;
  {
    transport::Engine::Visit visit(engine);
    for (const bool are_sends : {false, true})
      for (std::size_t i = 0; i < count; ++i) {
        const auto [prepared, work] = at(i);
        if (prepared->is_send() != are_sends) continue;
        if (const base::Status status = prepared->post(*work, visit); status.failed())
          failed.emplace_back(i, status);
      }
    visit.poll();
  }
  for (const auto& [i, status] : failed) {
    const auto [prepared, work] = at(i);
    WorkAccess::set_error(*work, prepared->failure(status));
  }
}

}  // namespace parley::detail
