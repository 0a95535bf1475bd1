#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "api/collective/run.h"
#include "transport/interface/neighbour.h"

namespace parley::collective {

// Finds out, once for a group, whether its ranks can show those of their host their boards; all come to the
// same answer. By three collectives of messages, which have numbers among the group's calls: in the first the
// ranks of each host meet, then each shows its board to the others, in the second they tell whether those see
// it, and where it is, then each maps what it has been told of, and in the third all ranks of the group tell
// whether they could.
//
// Course: none --begin()--> introducing --its host's have come--> showing --all see it, or one does not-->
//         telling --its host's have told--> agreeing --all have told--> over
// A failure or an abort of the group's collectives leads from everywhere to `over`, with nothing, but
// that from `agreeing` the boards are kept, for others may have heard that all agree.
// Thread-safety: none; the engine's lock.
class Meeting final : public transport::Agent, public transport::Watcher, public Delay {
 public:
  // `ranks_here`: how many ranks the host has that has most of them. `on_over` is called once, at the end.
  Meeting(const Lane& lane, ScratchPool& scratch, std::uint32_t ranks_here, std::function<void()> on_over);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Memory for our board, which the others can map: of board_bytes(), or null.
  void supply(std::shared_ptr<std::byte> board) noexcept;
  [[nodiscard]] bool is_supplied() const noexcept { return is_supplied_; }
  [[nodiscard]] std::size_t board_bytes() const noexcept { return Commons::board_bytes(stage_sets()); }
  // All ranks do so before the same call. Throws std::bad_alloc, and then nothing has begun. REQUIRES:
  // is_supplied().
  void begin(transport::Messenger& messenger);

  [[nodiscard]] bool has_begun() const noexcept { return state_ != State::none; }
  // Whether none of its collectives is under way; until then it must live.
  [[nodiscard]] bool is_idle() const noexcept {
    return greeting_.is_idle() && telling_.is_idle() && agreement_.is_idle();
  }

  // The boards, where it was aborted when others may have come to use them; null: there are none.
  [[nodiscard]] std::unique_ptr<Commons> take_commons() noexcept { return std::move(commons_); }

  void advance() noexcept override;
  bool look() noexcept override;
  [[nodiscard]] Awaited awaited() const noexcept override;
  [[nodiscard]] std::string waited_for() const override;

 private:
  enum class State : std::uint8_t { none, introducing, showing, telling, agreeing, over };
  // What a rank tells of its board.
  struct Card {
    transport::RemoteKey key;
    bool is_seen = false;  // by all others of its host
  };
  struct Blocks {  // of an all_gather
    const void* own;
    void* all;
    std::size_t bytes;  // of one
    std::size_t count;
  };
  void start(Run& run, std::int64_t number, const PlanHandle& plan, const Blocks& blocks) noexcept;
  void show() noexcept;
  void tell() noexcept;
  void map() noexcept;
  [[nodiscard]] std::unique_ptr<Commons> make_commons();
  void end() noexcept;
  void give_back_board() noexcept;
  [[nodiscard]] transport::Neighbour* neighbour(std::uint32_t rank) const noexcept {
    return neighbour_of(*messenger_, lane_.team, rank);
  }
  [[nodiscard]] Commons::Sets stage_sets() const noexcept;
  static void on_run_done(transport::Request& request) noexcept;

  const Lane lane_;
  const std::uint32_t ranks_here_;
  const std::function<void()> on_over_;
  Run greeting_;
  Run telling_;
  Run agreement_;
  const Run* under_way_ = nullptr;  // one of them
  PlanHandle plan_for_greeting_;
  PlanHandle plan_for_telling_;
  PlanHandle plan_for_agreement_;
  transport::Messenger* messenger_ = nullptr;
  State state_ = State::none;
  bool run_has_ended_ = false;
  bool has_failed_ = false;
  std::int64_t second_number_ = 0;
  std::int64_t third_number_ = 0;
  std::shared_ptr<std::byte> board_;
  bool is_supplied_ = false;
  Call call_;
  std::byte own_word_{};          // of the third: 1, it has mapped all
  std::vector<std::byte> words_;  // by rank; of the first: of those of our host
  Card own_card_;
  std::vector<std::uint32_t> here_;     // the ranks of our host, in their order
  std::vector<Card> cards_;             // of those
  std::vector<std::uint32_t> waiting_;  // ranks that do not see our board yet
  std::unique_ptr<Commons> commons_;    // until all have it, or others may
};

}  // namespace parley::collective
