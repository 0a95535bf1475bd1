#pragma once

// Which sanitizer a test was compiled with. They look at code and not at cases: what proves all cases without
// them proves some with them.
namespace parley::sanitizer {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool watches_threads = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool watches_threads = true;
#else
inline constexpr bool watches_threads = false;
#endif
#else
inline constexpr bool watches_threads = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool watches_memory = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool watches_memory = true;
#else
inline constexpr bool watches_memory = false;
#endif
#else
inline constexpr bool watches_memory = false;
#endif

inline constexpr bool is_on = watches_threads || watches_memory;

}  // namespace parley::sanitizer
