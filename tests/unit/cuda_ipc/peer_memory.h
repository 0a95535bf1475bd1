#pragma once

#include <memory>
#include <string>

#include "tests/unit/cuda_ipc/owner.h"
#include "tests/unit/cuda_ipc/rank.h"
#include "transport/cuda_ipc/semaphores.h"

namespace parley::transport::cuda_ipc {

// One end of a link to the owner.
class Link {
 public:
  explicit Link(Port& port)
      : mover_(port, ledger_, IpcMover::Copies::by_us), of_peer_(port, ledger_.peer_words()) {}

  template <typename What>
  bool tell(const What& what) {
    return mover_.take_note(std::as_bytes(std::span(&what, 1)));
  }
  // The offer of slot 0. The ledger says of those with ticket 1 that they are there to be taken.
  base::Status copy(Transfer::Direction direction, Transfer& transfer, std::uint32_t memory,
                    std::uint32_t ticket = 1) {
    const Key key{.memory = memory, .ticket_word = ticket};
    RemoteKey remote;
    std::memcpy(remote.bytes.data(), &key, sizeof(key));
    return direction == Transfer::Direction::from_peer
               ? mover_.pull_to_device(remote, transfer, Owner::bytes)
               : mover_.push_from_device(remote, transfer, Owner::bytes);
  }
  // What the owner's mover sees of its offers.
  [[nodiscard]] Semaphores& of_peer() { return of_peer_; }
  void end() {
    mover_.end();
    EXPECT_TRUE(mover_.look_after_end());
  }

 private:
  Ledger ledger_;
  IpcMover mover_;
  Semaphores of_peer_;
};

// A link to an owner, and what is pulled by it.
class PeerMemory : public Rank {
 protected:
  ~PeerMemory() override { device().synchronize(cuda::default_stream); }

  void show(std::initializer_list<std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers) EXPECT_TRUE(link_->tell(owner_.note(number - 1, number)));
  }
  // Reads the whole of it by the device. Nothing: it goes by way of the host.
  std::string pull(std::uint32_t number) { return pull(*link_, number); }
  std::string pull(Link& link, std::uint32_t number) {
    const auto copies = device().count(cuda::testing::Call::copy);
    const base::Code code = begin_pull(link, number);
    EXPECT_EQ(device().count(cuda::testing::Call::copy) - copies, code == base::Code::ok ? 1U : 0U);
    if (code != base::Code::ok) return {};
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    return own_.text(target_, Owner::bytes);
  }
  base::Code begin_pull(Link& link, std::uint32_t number) {
    if (target_ == nullptr) target_ = allocate(Owner::bytes);
    Transfer& into = begin(target_, Owner::bytes);
    const base::Code code = link.copy(Transfer::Direction::from_peer, into, number).code();
    into.release();
    return code;
  }
  // What has been asked of the driver so far.
  std::uint64_t tries() { return device().count(cuda::testing::Call::import_memory); }
  static std::string all(char letter) { return std::string(Owner::bytes, letter); }

  Owner owner_{3};
  std::byte* target_ = nullptr;
  std::unique_ptr<Link> link_ = std::make_unique<Link>(*port_);
};

}  // namespace parley::transport::cuda_ipc
