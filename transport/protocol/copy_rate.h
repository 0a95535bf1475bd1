#pragma once

#include <cstdint>

namespace parley::transport {

// What a byte takes, on the average of the last samples. Whatever disturbs makes a sample longer, never
// shorter, so that longer ones weigh less; and one that is much longer counts only if the next one is, too:
// its process had lost the core. Pure. Thread-safety: none.
struct CopyRate {
  float ns_per_byte = 0;  // 0: none yet
  std::uint8_t cold = 1;  // so many more do not count
  bool is_doubted = false;
  bool is_old = false;       // the next one that counts takes its place
  std::uint8_t counted = 0;  // samples, up to few_samples

  // Until so many were counted the first ones weigh too much: they touch memory that the later ones find.
  static constexpr std::uint8_t few_samples = 4;
  static constexpr float usual_weight_of_longer = 0.25F;

  // The next samples tell what it takes now, whatever the ones before have told; the first one is believed.
  void begin_anew() noexcept {
    cold = ns_per_byte == 0 ? 2 : 1;
    is_old = true;
    counted = 0;
  }

  // False: this one does not count.
  bool take(float sample, float weight_of_longer = usual_weight_of_longer) noexcept;
};

}  // namespace parley::transport
