# Packages of the build, each with the Debian package that provides it.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Asio: header-only; Debian's libasio-dev has neither a CMake nor a pkg-config file.
find_path(PARLEY_ASIO_INCLUDE_DIR asio.hpp DOC "Folder of asio.hpp (package libasio-dev)")
if(NOT PARLEY_ASIO_INCLUDE_DIR)
  message(FATAL_ERROR "asio.hpp was not found: install libasio-dev or set PARLEY_ASIO_INCLUDE_DIR")
endif()
add_library(parley_asio INTERFACE)
target_include_directories(parley_asio SYSTEM INTERFACE "${PARLEY_ASIO_INCLUDE_DIR}")
# Asio 1.22.1 detects aligned allocation by a macro of libstdc++ that is known only if a standard header was
# included before, so that one file would allocate by operator new what another frees by free().
# The namespace has a name of its own in here: a program that links libparley.a may use another Asio, or this one with
# other settings, and the linker would take one program's inline functions for the other's.
target_compile_definitions(parley_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED ASIO_DISABLE_STD_ALIGNED_ALLOC
  asio=parley_private_asio)
# GCC warns that its thread sanitizer does not model the fences in Asio; Asio's mutexes order the same things.
if(PARLEY_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(parley_asio INTERFACE -Wno-tsan)
endif()
target_link_libraries(parley_asio INTERFACE Threads::Threads)

if(PARLEY_WITH_OPENSSL)
  find_package(OpenSSL REQUIRED)
endif()
include(ParleyCuda)
include(ParleyNccl)

if(PARLEY_BUILD_TOOLS OR PARLEY_BUILD_BENCH OR PARLEY_BUILD_EXAMPLES)
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)
endif()
if(PARLEY_BUILD_TOOLS OR PARLEY_BUILD_BENCH OR PARLEY_BUILD_EXAMPLES OR PARLEY_BUILD_TESTS)
  find_package(nlohmann_json REQUIRED)
endif()
if(PARLEY_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(PARLEY_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
