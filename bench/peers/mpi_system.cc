#include "bench/peers/mpi_system.h"

namespace parley::bench {

MpiSystem::MpiSystem(int partner, Buffers& buffers, const Plan& plan)
    : partner_(partner),
      out_(buffers.out().data()),
      in_(buffers.in().data()),
      bytes_(static_cast<int>(buffers.out().size())),
      window_(static_cast<std::size_t>(plan.window)),
      requests_(2 * window_) {}

void MpiSystem::post_sends() {
  for (std::size_t i = 0; i < window_; ++i) {
    MPI_Isend(out_, bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, &requests_[i]);
  }
}

void MpiSystem::post_receives() {
  for (std::size_t i = window_; i < 2 * window_; ++i) {
    MPI_Irecv(in_, bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, &requests_[i]);
  }
}

void MpiSystem::wait_all(std::span<MPI_Request> requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void MpiSystem::send_window() {
  post_sends();
  wait_all(std::span(requests_).first(window_));
}

void MpiSystem::recv_window() {
  post_receives();
  wait_all(std::span(requests_).last(window_));
}

void MpiSystem::exchange_windows() {
  post_receives();
  post_sends();
  wait_all(requests_);
}

void MpiSystem::post_send(DistinctMessages& messages, int i) {
  MPI_Isend(messages.out(i).data(), bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, &posted_.emplace_back());
}

void MpiSystem::post_receive(DistinctMessages& messages, int i) {
  MPI_Irecv(messages.in(i).data(), bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, &posted_.emplace_back());
}

void MpiSystem::finish_posted() {
  wait_all(posted_);
  posted_.clear();
}

}  // namespace parley::bench
