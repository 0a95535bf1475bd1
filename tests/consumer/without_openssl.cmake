# The library without OpenSSL: what is left of the sockets keeps its promises, and a job runs over loopback.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

# Not optimised, and compiled in a few pieces: it is built for this test alone.
set(binary "${WORK_DIR}/build")
configure("${PARLEY_SOURCE_DIR}" "${binary}" -DPARLEY_WITH_OPENSSL=OFF -DPARLEY_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPARLEY_BUILD_BENCH=OFF -DPARLEY_INSTALL=OFF -DPARLEY_UNITY=ON)
run("${CMAKE_COMMAND}" --build "${binary}" --parallel 2 --target unit_socket parley-run chain)

run(ldd "${binary}/bin/parley-run")
if(output MATCHES "libcrypto")
  message(FATAL_ERROR "a build with PARLEY_WITH_OPENSSL=OFF needs libcrypto:\n${output}")
endif()

run("${binary}/tests/unit_socket")
if(NOT output MATCHES "Plain\\.APartnerWithOpensslIsRefused")
  message(FATAL_ERROR "unit_socket has not run plain_test.cc:\n${output}")
endif()

run("${binary}/bin/parley-run" -n 2 --timeout 60s "${binary}/bin/chain")
if(NOT output MATCHES "Final value: 52\\.0, expected: 52\\.0")
  message(FATAL_ERROR "unexpected output of chain:\n${output}")
endif()
