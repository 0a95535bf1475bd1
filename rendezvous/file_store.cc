#include "rendezvous/file_store.h"

#include <parley/error.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "rendezvous/request_store.h"
#include "rendezvous/store_codec.h"
#include "rendezvous/store_file.h"
#include "rendezvous/store_service.h"
#include "rendezvous/store_table.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

constexpr auto open_patience = std::chrono::seconds(30);
// How much longer than its timeout an operation tries to get the lock.
constexpr std::chrono::nanoseconds lock_grace = std::chrono::seconds(2);
constexpr auto first_pause = std::chrono::microseconds(100);
constexpr auto usual_pause = std::chrono::milliseconds(10);
constexpr auto longest_pause = std::chrono::milliseconds(50);
// The log is written anew when it is this much longer than what it says.
constexpr std::uint64_t slack_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t slack_factor = 4;
constexpr std::uint64_t entry_bytes = 128;  // what an entry has beside its key and value, at most
constexpr std::uint64_t page_bytes = 4096;

// Grows from pause to pause, so that short waits are quick and long ones cheap: twofold up to the usual one,
// from there on by a sixteenth, if it may, to 50 ms after 0.7 s.
class Pause {
 public:
  explicit Pause(std::chrono::nanoseconds longest) : longest_(longest) {}

  std::chrono::nanoseconds next() {
    const auto grown =
        pause_ < usual ? std::min(pause_ * 2, usual) : std::min(pause_ + pause_ / 16, longest_);
    return std::exchange(pause_, grown);
  }

 private:
  static constexpr std::chrono::nanoseconds usual = usual_pause;
  std::chrono::nanoseconds longest_;
  std::chrono::nanoseconds pause_ = first_pause;
};

// Every process that has the file open replays its log on a table of its own. All start empty, see the same
// requests in the same order and apply the same limits, so all tables are equal at equal places of the log.
class FileStore final : public RequestStore {
 public:
  FileStore(const std::string& path, const TableLimits& limits)
      : FileStore(std::make_unique<StoreFile>(path, limits, base::Deadline::after(open_patience))) {}
  ~FileStore() override {
    // A forked child shares its parent's locks: closing is all that it may do.
    if (in_forked_child()) [[maybe_unused]]
      auto* file_of_parent = file_.release();
  }
  [[nodiscard]] std::string keeper() const override { return {}; }

 private:
  // One caller's place to sleep; see MemoryStore.
  struct Caller {
    std::optional<Reply> reply;
    std::condition_variable answered;
  };

  explicit FileStore(std::unique_ptr<StoreFile> file)
      : RequestStore(file->limits()), file_(std::move(file)), table_(file_->limits()) {}

  base::Result<Reply> call(const Request& request) override try {
    std::unique_lock lock(mutex_);
    if (!lock_file(lock, request.timeout))
      return base::Failure{base::Code::timed_out,
                           base::concat("another process keeps ", file_->path(), " locked")};
    if (changes(request.command)) {
      const Unlock unlock{*file_};
      catch_up();
      return change(request);
    }
    {
      const Unlock unlock{*file_};
      catch_up();
    }
    return ask(lock, request);
  } catch (const StoreError& error) {
    return Reply{.status = ReplyStatus::failed, .text = error.what()};
  }

  struct Unlock {
    StoreFile& file;
    ~Unlock() { file.unlock(); }
  };

  // Other threads may have their turn between two tries.
  bool lock_file(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds timeout) {
    const bool overflows = timeout > std::chrono::nanoseconds::max() - lock_grace;
    const auto deadline = overflows ? base::Deadline::never() : base::Deadline::after(timeout + lock_grace);
    Pause pause(usual_pause);  // others let it go soon
    while (!file_->try_lock()) {
      if (deadline.expired()) return false;
      lock.unlock();
      std::this_thread::sleep_for(pause.next());
      lock.lock();
    }
    return true;
  }

  // A request that changes nothing: from the table, waiting for keys if need be.
  Reply ask(std::unique_lock<std::mutex>& lock, const Request& request) {
    const auto deadline = base::Deadline::after(request.timeout);
    Caller caller;
    const auto wait = execute(table_, request, deadline, [&caller](StoreTable::WaitId, Reply reply) {
      caller.reply = std::move(reply);
      caller.answered.notify_one();
    });
    try {
      Pause pause(longest_pause);
      while (!caller.reply) {
        const auto next = base::Deadline::after(pause.next());
        caller.answered.wait_until(lock, earliest(next, deadline).when());
        if (!caller.reply) look(deadline);
      }
    } catch (...) {
      table_.cancel(wait);
      throw;
    }
    return *std::move(caller.reply);
  }

  // Whether others have changed something, or the time is over.
  void look(base::Deadline deadline) {
    const auto now = base::Clock::now();
    if (file_->extent().end != position_ && file_->try_lock()) {
      const Unlock unlock{*file_};
      catch_up();
    }
    if (now >= deadline.when()) table_.expire(now);
  }

  // REQUIRES, from here on: the lock of the file.
  void catch_up() {
    const auto extent = file_->extent();
    if (position_ < extent.begin) {
      table_.clear();
      position_ = extent.begin;
    }
    FrameReader reader(table_.limits().operation_bytes + body_overhead_bytes);
    std::uint64_t at = position_;
    while (at < extent.end) {
      const auto want = std::min<std::uint64_t>(buffer_.size(), extent.end - at);
      std::span<const std::byte> input =
          std::span(buffer_).first(file_->read(at, std::span(buffer_).first(static_cast<std::size_t>(want))));
      if (input.empty()) throw_damaged("it was cut short");
      at += input.size();
      replay(reader, input, at);
    }
    if (position_ != extent.end) throw_damaged("its last entry is incomplete");
  }

  // `at` is where `input` ends in the file.
  void replay(FrameReader& reader, std::span<const std::byte> input, std::uint64_t at) {
    Frame frame;
    for (;;) {
      const auto step = reader.step(input, frame);
      if (step == FrameReader::Step::more) return;
      const auto request = step == FrameReader::Step::frame ? decode_request(frame) : std::nullopt;
      if (!request || !changes(request->command)) throw_damaged("it holds what is no entry of a store");
      execute(table_, *request, base::Deadline::never(), [](StoreTable::WaitId, const Reply&) {});
      position_ = at - input.size();
    }
  }

  Reply change(const Request& request) {
    const auto extent = file_->extent();
    const auto frame = encode_request(0, request);
    // Written before it is carried out, so that a full disk changes nothing; it counts afterwards.
    file_->write(extent.end, frame);
    Reply reply;
    execute(table_, request, base::Deadline::never(),
            [&reply](StoreTable::WaitId, Reply answer) { reply = std::move(answer); });
    if (reply.status != ReplyStatus::ok) return reply;
    const StoreFile::Extent longer{extent.begin, extent.end + frame.size()};
    file_->commit(longer);
    position_ = longer.end;
    const std::uint64_t worth = table_.bytes() + table_.key_count() * entry_bytes;
    if (longer.end - longer.begin > slack_bytes + slack_factor * worth) write_anew(longer);
    return reply;
  }

  // Puts what the log comes to behind it and makes that the log. A disk that is full for it is no failure.
  void write_anew(const StoreFile::Extent& old) try {
    StoreFile::Extent fresh;
    fresh.begin = fresh.end = (old.end + page_bytes - 1) / page_bytes * page_bytes;
    table_.for_each([&](const std::string& key, const StoreTable::Value& value) {
      const auto frame = encode_request(0, {.command = Command::set, .keys = {key}, .values = {value}});
      file_->write(fresh.end, frame);
      fresh.end += frame.size();
    });
    file_->commit(fresh);
    position_ = fresh.end;
    file_->release_before(fresh.begin);
  } catch (const StoreError& error) {
    PARLEY_LOG(debug, "store", "its log stays long: ", error.what());
  }

  [[noreturn]] void throw_damaged(const char* how) const {
    throw StoreError(base::concat("store file ", file_->path(), " is damaged: ", how));
  }

  [[nodiscard]] std::string host() const override { return {}; }

  std::mutex mutex_;
  // Guarded by mutex_, all of these.
  std::unique_ptr<StoreFile> file_;
  StoreTable table_;
  std::uint64_t position_ = StoreFile::log_offset;  // the log is replayed up to here
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{64} << 10);
};

}  // namespace

std::shared_ptr<Store> make_file_store(const std::string& path, const TableLimits& limits) {
  return std::make_shared<FileStore>(path, limits);
}

}  // namespace parley::rendezvous

namespace parley {

std::shared_ptr<Store> make_file_store(const std::string& path, const StoreLimits& limits) {
  return rendezvous::make_file_store(path, rendezvous::table_limits(limits));
}

}  // namespace parley
