# FetchContent from a local copy, static.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

configure_and_build("${CMAKE_CURRENT_LIST_DIR}/subproject" "${WORK_DIR}/subproject"
  "-DPARLEY_SOURCE_DIR=${PARLEY_SOURCE_DIR}" -DBY_FETCH_CONTENT=ON)
expect_hello("${WORK_DIR}/subproject/hello")
