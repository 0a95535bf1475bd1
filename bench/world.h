#pragma once

#include <cstddef>
#include <span>

namespace parley::bench {

// What a measurement needs of its ranks outside the measured time: they meet, and bytes travel between them.
// Each measured library brings its own. Not thread-safe. Errors are the library's own exceptions.
class World {
 public:
  virtual ~World() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // Returns when all ranks have called it.
  virtual void barrier() = 0;
  // Messages from one rank to another arrive in order; both ends give the same size.
  virtual void send_bytes(std::span<const std::byte> data, int destination) = 0;
  virtual void recv_bytes(std::span<std::byte> data, int source) = 0;

  // The same for a value without pointers.
  template <typename T>
  void send_value(const T& value, int destination) {
    send_bytes(std::as_bytes(std::span(&value, 1)), destination);
  }
  template <typename T>
  T recv_value(int source) {
    T value{};
    recv_bytes(std::as_writable_bytes(std::span(&value, 1)), source);
    return value;
  }
  // Rank 0's value at all ranks, each of which calls it.
  template <typename T>
  T share_value(T value) {
    if (rank() != 0) return recv_value<T>(0);
    for (int other = 1; other < size(); ++other) send_value(value, other);
    return value;
  }

 protected:
  World() = default;
  World(const World&) = default;
  World& operator=(const World&) = default;
};

}  // namespace parley::bench
