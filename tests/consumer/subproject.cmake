# In a project of somebody else's: by add_subdirectory(), which is looked at without a build, and by FetchContent in one
# that wants shared libraries. Then what that build installs, below a DESTDIR and moved: for find_package() and
# pkg-config, and what the library exports. Last the same build without OpenSSL: of the library only the sockets are compiled
# anew.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(source "${CMAKE_CURRENT_LIST_DIR}/subproject")
set(parley "-DPARLEY_SOURCE_DIR=${PARLEY_SOURCE_DIR}")
configure("${source}" "${WORK_DIR}/static" "${parley}")
configure_and_build("${source}" "${WORK_DIR}/shared" "${parley}" -DBY_FETCH_CONTENT=ON -DBUILD_SHARED_LIBS=ON
  -DPARLEY_INSTALL=ON -DPARLEY_UNITY=ON -DPARLEY_WARNINGS_AS_ERRORS=ON)
expect_hello("${WORK_DIR}/shared/hello")

set(prefix "${WORK_DIR}/prefix")
install_below_and_move("${WORK_DIR}/shared" "${prefix}")
file(RENAME "${WORK_DIR}/shared" "${WORK_DIR}/away")  # nothing shall be found there
expect_find_package("${prefix}")
expect_pkg_config("${prefix}")
file(GLOB_RECURSE library "${prefix}/libparley.so")
expect_only_the_interface("${library}")

file(RENAME "${WORK_DIR}/away" "${WORK_DIR}/shared")
set(programs "${WORK_DIR}/shared/_deps/parley-build")
configure("${source}" "${WORK_DIR}/shared" -DPARLEY_WITH_OPENSSL=OFF -DPARLEY_BUILD_TESTS=ON -DPARLEY_BUILD_TOOLS=ON
  -DPARLEY_BUILD_EXAMPLES=ON)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/shared" --parallel 2 --target unit_socket parley-run chain)
expect_no_openssl("${programs}/tools/parley-run" "${programs}/tests/unit_socket" "${programs}/api/examples/chain")
