#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/buffers.h"
#include "bench/plan.h"

namespace parley::bench {

// The measured traffic through MPI: MPI_Send and MPI_Recv; windows of MPI_Isend, MPI_Irecv and one
// MPI_Waitall, all receives of a window into one buffer, as in the OSU benchmarks. A System of phase.h.
class MpiSystem {
 public:
  // Borrows the buffers for its lifetime.
  MpiSystem(int partner, Buffers& buffers, const Plan& plan);

  void send() { MPI_Send(out_, bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD); }
  void recv() { MPI_Recv(in_, bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
  void send_window();
  void recv_window();
  void exchange_windows();
  void send_ack() { MPI_Send(&ack_, 1, MPI_BYTE, partner_, tag, MPI_COMM_WORLD); }
  void recv_ack() { MPI_Recv(&ack_, 1, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

  void send_distinct(DistinctMessages& messages, int i) {
    MPI_Send(messages.out(i).data(), bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD);
  }
  void recv_distinct(DistinctMessages& messages, int i) {
    MPI_Recv(messages.in(i).data(), bytes_, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void post_send(DistinctMessages& messages, int i);
  void post_receive(DistinctMessages& messages, int i);
  void finish_posted();

 private:
  static constexpr int tag = 0;
  void post_sends();
  void post_receives();
  static void wait_all(std::span<MPI_Request> requests);

  int partner_;
  const std::uint8_t* out_;
  std::uint8_t* in_;
  int bytes_;
  std::uint8_t ack_ = 1;
  std::size_t window_;
  std::vector<MPI_Request> requests_;  // of a window of sends, then of one of receives
  std::vector<MPI_Request> posted_;    // of messages that differ
};

}  // namespace parley::bench
