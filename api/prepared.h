#pragma once

#include <parley/tensor.h>
#include <parley/types.h>
#include <parley/work.h>

#include <exception>
#include <memory>
#include <utility>

#include "api/group_state.h"

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
  [[nodiscard]] const Tensor& tensor() const noexcept { return tensor_; }

  // As post_send() and post_receive(), in posting.h.
  base::Status post(Work& work, transport::Engine::Visit& visit) const;
  // The error of a failed status. REQUIRES: not the engine's lock.
  [[nodiscard]] std::exception_ptr failure(base::Status status) const;

 private:
  Prepared(std::shared_ptr<GroupState> group, const Tensor& tensor, int peer)
      : group_(std::move(group)), tensor_(tensor), peer_(peer) {}

  std::shared_ptr<GroupState> group_;
  Tensor tensor_;
  int peer_;  // in the group
  bool is_send_ = false;
  transport::SendSpec send_;
  transport::ReceiveSpec receive_;
};

}  // namespace parley::detail
