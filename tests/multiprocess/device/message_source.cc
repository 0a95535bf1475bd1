#include "tests/multiprocess/device/message_source.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace parley::testing {
namespace {
constexpr std::size_t most_spare = 12;
}  // namespace

class DeviceMessage final : public MessageMemory {
 public:
  DeviceMessage(DeviceMessageSource& source, std::size_t bytes)
      : source_(source), bytes_(bytes), block_(source.take(bytes + guard_bytes)) {
    begin_ = source.random_.below(block_->bytes - bytes - guard_bytes + 1);
    block_->buffer.upload(std::vector<std::byte>(guard_bytes, guard_byte), begin_ + bytes);
  }
  ~DeviceMessage() override { source_.give(std::move(block_)); }
  DeviceMessage(const DeviceMessage&) = delete;
  DeviceMessage& operator=(const DeviceMessage&) = delete;

  [[nodiscard]] Tensor tensor() const override { return block_->buffer.tensor(bytes_, begin_); }
  void fill(const Content& content) override {
    std::vector<std::byte> bytes(bytes_);
    content.fill(bytes.data(), bytes_);
    block_->buffer.upload(bytes, begin_);
  }
  [[nodiscard]] std::size_t first_wrong(const Content& content, std::size_t bytes) const override {
    return content.first_wrong(block_->buffer.download(bytes, begin_).data(), bytes);
  }
  void check_guard() const override {
    expect_guard(block_->buffer.download(guard_bytes, begin_ + bytes_).data());
  }

 private:
  DeviceMessageSource& source_;
  std::size_t bytes_;
  std::unique_ptr<DeviceMessageSource::Block> block_;
  std::size_t begin_ = 0;
};

std::unique_ptr<MessageMemory> DeviceMessageSource::make(std::size_t bytes) {
  const bool is_on_host = where_ == Where::host || (where_ == Where::any && random_.one_in(2));
  if (is_on_host) return host_memory(bytes);
  return std::make_unique<DeviceMessage>(*this, bytes);
}

std::unique_ptr<DeviceMessageSource::Block> DeviceMessageSource::take(std::size_t bytes) {
  const auto found = std::find_if(spare_.begin(), spare_.end(),
                                  [bytes](const auto& block) { return block->bytes >= bytes; });
  if (found != spare_.end() && !random_.one_in(8)) {
    std::unique_ptr<Block> block = std::move(*found);
    spare_.erase(found);
    return block;
  }
  const bool is_pool = !DeviceRank::is_real() && random_.one_in(8);
  const std::size_t size = bytes + (random_.one_in(2) ? 0 : random_.below(1000));
  // Not by make_unique(): a Block cannot be moved.
  return std::unique_ptr<Block>(
      new Block{size, {rank_, size, is_pool ? DeviceBuffer::Source::pool : DeviceBuffer::Source::plain}});
}

void DeviceMessageSource::give(std::unique_ptr<Block> block) {
  spare_.push_front(std::move(block));
  if (spare_.size() > most_spare) spare_.pop_back();
}

}  // namespace parley::testing
