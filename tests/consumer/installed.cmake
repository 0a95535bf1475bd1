# This build, installed and moved, found by find_package() and by pkg-config.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(prefix "${WORK_DIR}/prefix")
install_and_move("${PARLEY_BINARY_DIR}" "${prefix}")
set(PARLEY_RUN "${prefix}/bin/parley-run")
expect_find_package("${prefix}")

file(GLOB_RECURSE pc "${prefix}/parley.pc")
cmake_path(GET pc PARENT_PATH pc_dir)
set(ENV{PKG_CONFIG_PATH} "${pc_dir}")
run("${PKG_CONFIG}" --cflags --libs parley)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${CXX}" "${CMAKE_CURRENT_LIST_DIR}/program/main.cc" -o "${WORK_DIR}/hello" ${flags})
expect_hello("${WORK_DIR}/hello")
