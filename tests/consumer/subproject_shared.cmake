# add_subdirectory() in a project that wants shared libraries; then what that build installs, below a DESTDIR and
# moved: for find_package() and pkg-config, and what the library exports.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

configure_and_build("${CMAKE_CURRENT_LIST_DIR}/subproject" "${WORK_DIR}/subproject"
  "-DPARLEY_SOURCE_DIR=${PARLEY_SOURCE_DIR}" -DBUILD_SHARED_LIBS=ON -DPARLEY_INSTALL=ON)
expect_hello("${WORK_DIR}/subproject/hello")

set(prefix "${WORK_DIR}/prefix")
install_below_and_move("${WORK_DIR}/subproject" "${prefix}")
file(REMOVE_RECURSE "${WORK_DIR}/subproject")
expect_find_package("${prefix}")
expect_pkg_config("${prefix}")
file(GLOB_RECURSE library "${prefix}/libparley.so")
expect_only_the_interface("${library}")
