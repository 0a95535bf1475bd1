# This build, installed and moved, found by find_package() and by pkg-config. Its headers for
# coroutines and for Asio, and the library itself, can be used from clang, too.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(prefix "${WORK_DIR}/prefix")
install_and_move("${PARLEY_BINARY_DIR}" "${prefix}")
set(PARLEY_RUN "${prefix}/bin/parley-run")
expect_find_package("${prefix}")
expect_pkg_config("${prefix}")
file(GLOB_RECURSE library "${prefix}/libparley.a")
expect_no_asio("${library}")

set(compilers "${CXX}")
if(CLANG)  # where it is installed
  list(APPEND compilers "${CLANG}")
endif()
foreach(CXX IN LISTS compilers)
  cmake_path(GET CXX FILENAME name)
  set(binary "${WORK_DIR}/awaiting-${name}")
  configure_and_build("${CMAKE_CURRENT_LIST_DIR}/awaiting" "${binary}" "-DCMAKE_PREFIX_PATH=${prefix}")
  run("${PARLEY_RUN}" -n 2 --timeout 60s "${binary}/awaiting")
  if(NOT output MATCHES "a coroutine got 7, a handler got 8")
    message(FATAL_ERROR "unexpected output of awaiting, made by ${CXX}:\n${output}")
  endif()
endforeach()
