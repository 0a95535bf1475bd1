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
  set(output "${output}" PARENT_SCOPE)
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

# As a packager does: the prefix is named at the installation, DESTDIR stands before it.
function(install_below_and_move binary prefix)
  set(ENV{DESTDIR} "${WORK_DIR}/staging")
  run("${CMAKE_COMMAND}" --install "${binary}" --prefix /opt/parley)
  unset(ENV{DESTDIR})
  file(RENAME "${WORK_DIR}/staging/opt/parley" "${prefix}")
  file(GLOB left RELATIVE "${WORK_DIR}/staging" "${WORK_DIR}/staging/*" "${WORK_DIR}/staging/opt/*")
  if(NOT left STREQUAL "opt")
    message(FATAL_ERROR "installed outside of the prefix: ${left}")
  endif()
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

# Flags of a compiler command, from pkg-config; the run path is for shared libraries.
function(ask_pkg_config prefix)
  file(GLOB_RECURSE pc "${prefix}/parley.pc")
  cmake_path(GET pc PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} "${pc_dir}")
  run("${PKG_CONFIG}" --variable=libdir parley)
  string(STRIP "${output}" libdir)
  run("${PKG_CONFIG}" --cflags --libs parley)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(flags ${flags} "-Wl,-rpath,${libdir}" PARENT_SCOPE)
endfunction()

function(expect_pkg_config prefix)
  ask_pkg_config("${prefix}")
  run("${CXX}" "${CMAKE_CURRENT_LIST_DIR}/program/main.cc" -o "${WORK_DIR}/hello" ${flags})
  expect_hello("${WORK_DIR}/hello")
endfunction()

# Of a shared library: only names of parley:: that its public headers mark, and nothing of another project. (Mangled:
# a demangled template begins with its result's type.)
function(expect_only_the_interface library)
  run("${NM}" --dynamic --defined-only --format=posix "${library}")
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  list(LENGTH lines count)
  if(count LESS 100)
    message(FATAL_ERROR "only ${count} exported names in ${library}:\n${output}")
  endif()
  set(parley "^_Z(T[VIST]|GV)?N[KO]?6parley")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "${parley}" OR line MATCHES "${parley}(4base|6socket|9transport|10rendezvous|6wireup|6launch)")
      message(FATAL_ERROR "${library} exports ${line}")
    endif()
  endforeach()
endfunction()

# Of a static library: its Asio has a namespace of its own, so that the program may have another one.
function(expect_no_asio library)
  run("${NM}" --defined-only --format=posix "${library}")
  string(REGEX MATCH "[^\n]*N[KO]?4asio[^\n]*" line "${output}")
  if(line)
    message(FATAL_ERROR "${library} defines ${line}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
