# Steps of the consumer tests. Each ends the test with the command's output when it fails.

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(NOTICE "${output}")
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure source binary)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${binary}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" ${ARGN})
endfunction()

function(configure_and_build source binary)
  configure("${source}" "${binary}" ${ARGN})
  run("${CMAKE_COMMAND}" --build "${binary}" --parallel 2)
endfunction()

# Installs to one place and moves the tree to another, where nothing is left of the first.
function(install_and_move binary prefix)
  run("${CMAKE_COMMAND}" --install "${binary}" --prefix "${WORK_DIR}/staging")
  file(RENAME "${WORK_DIR}/staging" "${prefix}")
endfunction()

function(expect_hello)
  run("${PARLEY_RUN}" -n 2 --timeout 60s "${ARGV0}")
  if(NOT output MATCHES "rank 1 answered 4096 bytes")
    message(NOTICE "${output}")
    message(FATAL_ERROR "unexpected output of ${ARGV0}")
  endif()
endfunction()

# find_package(parley) in the program's own CMakeLists.txt; ARGN are further arguments of its configuration.
function(expect_find_package prefix)
  configure_and_build("${CMAKE_CURRENT_LIST_DIR}/program" "${WORK_DIR}/program" "-DCMAKE_PREFIX_PATH=${prefix}")
  expect_hello("${WORK_DIR}/program/hello")
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
