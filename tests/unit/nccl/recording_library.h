#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/nccl/library.h"
#include "transport/base/log.h"

namespace parley::nccl::testing {

// Does nothing but note what it is told, as text: "broadcast(in, out+8, 4 u8, root 1)". Pointers count from
// the two buffers that it is made with; what lies in neither is "?".
class RecordingLibrary final : public Library {
 public:
  RecordingLibrary(const std::byte* in, const std::byte* out, std::size_t bytes)
      : in_(in), out_(out), bytes_(bytes) {}

  std::vector<std::string> calls;
  Result next = Result::success;  // of every call but end_group

  [[nodiscard]] std::string describe(Result) const override { return "recorded"; }
  [[nodiscard]] int version() const noexcept override { return 22809; }
  Result make_unique_id(UniqueId&) noexcept override { return note("make_unique_id"); }
  Result join(const UniqueId&, const Membership&, Communicator&) noexcept override { return note("join"); }
  Result split(Communicator, const Division&, Communicator&) noexcept override { return note("split"); }
  Result state(Communicator) noexcept override { return note("state"); }
  Result finish(Communicator) noexcept override { return note("finish"); }
  Result destroy(Communicator) noexcept override { return note("destroy"); }
  Result abort(Communicator) noexcept override { return note("abort"); }
  Result begin_group() noexcept override { return note("begin_group"); }
  Result end_group() noexcept override {
    calls.emplace_back("end_group");
    return Result::success;
  }
  Result all_reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, Communicator,
                    cuda::Stream) noexcept override {
    return note("all_reduce", from, to, count, type, name(fold));
  }
  Result reduce(const void* from, void* to, std::size_t count, Type type, Fold fold, int root, Communicator,
                cuda::Stream) noexcept override {
    return note("reduce", from, to, count, type, base::concat(name(fold), ", root ", root));
  }
  Result broadcast(const void* from, void* to, std::size_t count, Type type, int root, Communicator,
                   cuda::Stream) noexcept override {
    return note("broadcast", from, to, count, type, base::concat("root ", root));
  }
  Result all_gather(const void* from, void* to, std::size_t count, Type type, Communicator,
                    cuda::Stream) noexcept override {
    return note("all_gather", from, to, count, type, "");
  }
  Result reduce_scatter(const void* from, void* to, std::size_t count, Type type, Fold fold, Communicator,
                        cuda::Stream) noexcept override {
    return note("reduce_scatter", from, to, count, type, name(fold));
  }
  Result send(const void* from, std::size_t count, Type type, int peer, Communicator,
              cuda::Stream) noexcept override {
    return note(base::concat("send(", place(from), ", ", count, ' ', name(type), ", to ", peer, ")"));
  }
  Result receive(void* to, std::size_t count, Type type, int peer, Communicator,
                 cuda::Stream) noexcept override {
    return note(base::concat("receive(", place(to), ", ", count, ' ', name(type), ", from ", peer, ")"));
  }
  Result make_scaled_sum(const void*, Type, Communicator, Fold&) noexcept override {
    return note("make_scaled_sum");
  }
  Result drop_scaled_sum(Fold, Communicator) noexcept override { return note("drop_scaled_sum"); }

 private:
  Result note(std::string call) {
    calls.push_back(std::move(call));
    return next;
  }
  Result note(const char* what, const void* from, const void* to, std::size_t count, Type type,
              const std::string& rest) {
    return note(base::concat(what, "(", place(from), ", ", place(to), ", ", count, ' ', name(type),
                             rest.empty() ? "" : ", ", rest, ")"));
  }
  [[nodiscard]] std::string place(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    if (byte == nullptr) return "null";
    const auto within = [&](const char* called, const std::byte* begin) {
      return byte == begin ? std::string(called) : base::concat(called, "+", byte - begin);
    };
    if (byte >= in_ && byte < in_ + bytes_) return within("in", in_);
    if (byte >= out_ && byte < out_ + bytes_) return within("out", out_);
    return "?";
  }
  static std::string name(Type type) {
    constexpr const char* names[] = {"i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16"};
    return names[static_cast<int>(type)];
  }
  static std::string name(Fold fold) {
    constexpr const char* names[] = {"sum", "product", "max", "min", "average"};
    return static_cast<int>(fold) < 5 ? names[static_cast<int>(fold)] : "scaled sum";
  }

  const std::byte* const in_;
  const std::byte* const out_;
  const std::size_t bytes_;
};

}  // namespace parley::nccl::testing
