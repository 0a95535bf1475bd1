#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/nccl/library.h"
#include "api/nccl/undertaker.h"
#include "transport/cuda_ipc/port.h"
#include "transport/engine/engine.h"

namespace parley::nccl {

// The communicator of one group on one rank, from joining to its end, and the watch over what is on its way:
// as long as the device works at something, deaths of members, aborts of the group, NCCL's own errors and
// deadlines end it, and the device with it.
//
// Course: empty --join() or adopt()--> joining --all have joined--> ready
//         ready <--> launching (NCCL tells the device in the background)
//         ready <--> splitting (NCCL makes children of its communicator)
//         any but empty --an error, a death, an abort of the context, a deadline--> over
// NCCL's word that a member is lost ends it half a second later, if nobody has heard of a death by then.
// What ends the communicator ends all collectives of the group, by an abort of their context, and the other
// way round. In `over` the communicator is the undertaker's. One that was split off is in reserve before
// begin_use(): its group may never touch a device, and its end is its own.
//
// Thread-safety: none; the engine's lock. But for the destructor, which takes it.
class Link final : public transport::Agent {
 public:
  enum class State : std::uint8_t { empty, joining, ready, launching, splitting, over };
  struct Place {
    Library& library;
    transport::cuda_ipc::Port& port;  // open
    int device;
    transport::Engine& engine;
    std::uint32_t context;  // of the group's collectives
  };

  // Empty. Throws std::system_error (no thread for its end).
  explicit Link(const Place& place);
  // Ends it in good order, unless it is over, was not ready yet, nothing was ever to be told to it, or its
  // device is late.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Begins to join. If NCCL refuses at once it is over. REQUIRES: empty, and not the engine's lock.
  void join(const UniqueId& id, const Membership& who);
  // Goes on with one that was split off from its parent's, in reserve. REQUIRES: empty.
  void adopt(Communicator communicator) noexcept;
  // All ranks have agreed to work by it: if it has ended in reserve, the group's collectives end now.
  void begin_use() noexcept;

  // Looks how it goes on. An error aborts the context, at once or, where a member is lost, a little later.
  State look() noexcept;
  // Looks whether the device has done what it was told, as far as there is anybody to ask.
  bool is_idle() noexcept;
  // For people, in all states but empty: "NCCL, which is still joining its ranks", or why it is over.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] bool has_begun() const noexcept { return state_ != State::empty; }
  // NCCL has told that a member is gone: it is about to be over.
  [[nodiscard]] bool is_lost() const noexcept { return lost_at_ && state_ != State::over; }
  [[nodiscard]] int device() const noexcept { return place_.device; }
  [[nodiscard]] Library& library() const noexcept { return place_.library; }

  // What is told has an order, the same on all ranks: that of the numbers taken here.
  std::uint64_t take_number() noexcept { return next_number_++; }
  [[nodiscard]] bool is_turn_of(std::uint64_t number) const noexcept { return number == told_; }

  // Has `tell(communicator)` enqueue something in `stream`, with the device entered, and watches over it for
  // `timeout`. It comes to ready or launching; or to over, and then the context is aborted.
  // REQUIRES: ready.
  template <typename Tell>
  State tell(cuda::Stream stream, std::chrono::nanoseconds timeout, const Tell& tell_it) noexcept {
    const cuda::DeviceScope scope(*place_.port.api(), place_.device);
    return note_told(tell_it(communicator_), stream, timeout);
  }
  // Begins to split the communicator, for which all of its ranks have to do so. It comes to splitting; or to
  // over, and then the context is aborted. REQUIRES: ready.
  State split(const Division& part) noexcept;
  // This rank's child, which is the caller's then. REQUIRES: ready, after split(). Null: it asked for none.
  Communicator take_child() noexcept { return undertaker_->take_child(); }
  // Has `ask(communicator)` ask for something that nobody waits for, with the device entered.
  // REQUIRES: ready.
  template <typename Ask>
  void call(const Ask& ask) noexcept {
    const cuda::DeviceScope scope(*place_.port.api(), place_.device);
    ask(communicator_);
  }
  // What the device does for it, longer than it lives: for the world that is left.
  [[nodiscard]] std::shared_ptr<wireup::DeviceWork> work() const noexcept { return undertaker_->work(); }

  // A deadline has passed while NCCL was joining, launching or splitting; for want of these ranks ("rank 2"),
  // if it is known.
  void give_up(std::string_view absent) noexcept;
  // Something else is in the way of what was to be told.
  void fail(std::string_view why) noexcept;
  // The number's turn is over: what it was for is told.
  void end_turn() noexcept { ++told_; }

  // Agent: the watch.
  void advance() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  // Of the work on the device: what is before the mark, or comes after it. It is recorded as soon as the work
  // is told, while its stream is sure to be there, and before anything else that the stream's owner tells it.
  struct Mark {
    cuda::Event event = nullptr;
    bool is_awaited = false;  // recorded, and not seen to be reached
    Clock::time_point deadline;
  };

  struct Abort {
    std::uint32_t by;
    std::string reason;
    transport::AbortManner manner;
  };

  static Clock::time_point deadline_after(std::chrono::nanoseconds timeout) noexcept;
  State note_told(Result result, cuda::Stream stream, std::chrono::nanoseconds timeout) noexcept;
  Result last_result() noexcept;
  void note_result(Result result) noexcept;
  void await_culprit(Result result) noexcept;
  bool ends_with_group() noexcept;
  cuda::Code record_latest() noexcept;
  bool begin_watch() noexcept;
  void end_watch(base::Status status) noexcept;
  static void on_interrupt(transport::Request& request) noexcept;
  void look_at_mark() noexcept;
  [[nodiscard]] bool has_work() noexcept;
  void note_why(std::string_view why) noexcept;
  void end_collectives(Abort abort) noexcept;
  void end_badly() noexcept;

  const Place place_;
  transport::Messenger* messenger_ = nullptr;
  std::unique_ptr<Undertaker> undertaker_;
  Communicator communicator_ = nullptr;
  State state_ = State::empty;
  bool has_split_returned_ = false;  // splitting: the call itself
  // NCCL has told that a member is lost, but not which: a moment is left for hearing whose death it was.
  std::optional<Clock::time_point> lost_at_;
  std::string why_lost_;
  std::string why_over_;
  bool is_in_reserve_ = false;
  std::optional<Abort> kept_abort_;  // of what has ended in reserve
  std::uint64_t next_number_ = 0;
  std::uint64_t told_ = 0;  // numbers whose turn is over

  transport::Request* watch_ = nullptr;  // while the device works for us, as far as we know
  Mark mark_;
  bool has_more_ = false;  // something was told after the mark was set:
  Mark latest_;            // behind all of it; awaited once the mark is reached
  // While NCCL still tells the device: where the mark behind that goes.
  std::optional<cuda::Stream> unmarked_stream_;
};

}  // namespace parley::nccl
