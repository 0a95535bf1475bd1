#pragma once

namespace parley::base {

// A value that the compiler reads from memory by itself, and not with its neighbours by one wide load: that
// one would wait until all narrow stores that have just written them have reached the cache, for a core
// forwards to a load only what one store covers.
template <typename Value>
[[nodiscard]] Value read_alone(Value value) noexcept {
  asm("" : "+r"(value));
  return value;
}

}  // namespace parley::base
