# parley_test(unit_tcp SOURCES a_test.cc [MODULES transport/tcp ...] [LINK extra::lib] [LABELS unit] [TIMEOUT 60]
#             [PROCESSORS 2 | WAITS] [ARGS ...] [TRANSPORTS tcp [ALWAYS]] [RUN_SERIAL] [ON_DEVICE] [ONE_THREAD]
#             [REPLACES_NEW] [APART b_test.cc ...])
# One GoogleTest program, one CTest entry per program. MODULES names the module folders whose objects are linked;
# without it the whole library is. TIMEOUT is in seconds, for the release preset. PROCESSORS is how many busy
# processes or threads the test keeps, so that CTest does not run others beside it; WAITS: it sleeps nearly all the
# time, and others run beside it. For each of TRANSPORTS there is one CTest entry more, NAME_TRANSPORT, which runs the
# same program with PARLEY_TRANSPORTS set to it; where PARLEY_TEST_EVERYTHING is off, only with ALWAYS. ON_DEVICE: for
# each of these entries there is one more, ENTRY_gpu, which runs the same on the machine's device. ONE_THREAD: there is
# nothing in it for ThreadSanitizer, which leaves it out. REPLACES_NEW: it has a global operator new of its own, for
# which clang's ThreadSanitizer has no room: left out there, too. APART: see parley_apart.
set(PARLEY_TEST_TIMEOUT_FACTOR 1 CACHE STRING "Multiplies the time limit of every test: sanitizers, long runs")
option(PARLEY_TEST_EVERYTHING "Every test, over every transport; OFF: the selection that the gate runs with sanitizers" ON)

# What most tests include, compiled once: reading it is half of a test's compilation where it is not optimized. Off
# by default, so that other builds (the preset dev) show whether each file includes what it uses; and with GCC 12,
# which breaks down now and then when it reads what it has compiled so.
option(PARLEY_TEST_PRECOMPILED_HEADERS "Compile the headers of tests once; needs clang" OFF)
if(PARLEY_TEST_PRECOMPILED_HEADERS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "PARLEY_TEST_PRECOMPILED_HEADERS needs clang, and the compiler is ${CMAKE_CXX_COMPILER_ID}")
elseif(PARLEY_TEST_PRECOMPILED_HEADERS)
  file(WRITE "${PROJECT_BINARY_DIR}/precompiled_headers.cc" "")
  add_library(parley_test_headers OBJECT "${PROJECT_BINARY_DIR}/precompiled_headers.cc")
  target_link_libraries(parley_test_headers PRIVATE parley_build_flags parley_internal GTest::gmock)
  # So that ccache can tell what has been read; see also tools/setup.sh.
  target_compile_options(parley_test_headers PUBLIC "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(parley_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <condition_variable> <filesystem> <fstream>
    <functional> <list> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string> <thread> <vector>
    <parley/parley.h>)
endif()

# parley_test_headers_for(TARGET): lets a target of the tests use them.
function(parley_test_headers_for target)
  if(PARLEY_TEST_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM parley_test_headers)
    target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:parley_test_headers,INTERFACE_COMPILE_OPTIONS>)
  endif()
endfunction()

# parley_test_objects(multiprocess_support a.cc b.cc): compiles once what several programs share. The variable of that
# name holds the objects, as SOURCES of parley_test() takes them. It makes and checks data, and is optimized for that
# in every build.
function(parley_test_objects name)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${name}_objects PRIVATE parley_build_flags parley_internal GTest::gtest)
  target_compile_options(${name}_objects PRIVATE -O1)  # without the compiled headers, which are not optimized
  set(${name} $<TARGET_OBJECTS:${name}_objects> PARENT_SCOPE)
endfunction()

# What CTest is told to share out (ctest --parallel) is thirds of processors, so that tests that wait can have one each.
# tools/test asks for all of them and two more: something that waits runs beside what keeps all processors busy.
set(parley_slots_per_processor 3)

# Makes entries of a program run on the machine's device, one after the other; without one they are skipped, in words.
# The program has the main() of tests/gpu/main.cc.
add_custom_target(gpu_tests)  # all of them
function(parley_run_on_device program)
  add_dependencies(gpu_tests ${program})
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT PARLEY_TEST_DEVICE=cuda)
  set_tests_properties(${ARGN} PROPERTIES LABELS gpu RESOURCE_LOCK gpu SKIP_RETURN_CODE 77)
endfunction()

function(parley_test name)
  cmake_parse_arguments(arg "RUN_SERIAL;ON_DEVICE;WAITS;ONE_THREAD;REPLACES_NEW;ALWAYS" "TIMEOUT;PROCESSORS" "SOURCES;MODULES;LINK;LABELS;ARGS;TRANSPORTS;APART" ${ARGN})
  if((arg_ONE_THREAD OR arg_REPLACES_NEW) AND PARLEY_SANITIZE MATCHES "thread")
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  math(EXPR slots "${arg_PROCESSORS} * ${parley_slots_per_processor}")
  if(arg_WAITS)
    set(slots 1)
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${PARLEY_TEST_TIMEOUT_FACTOR}")
  add_executable(${name} ${arg_SOURCES})
  parley_apart(${name} ${arg_APART})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE parley_build_flags GTest::gtest_main ${arg_LINK})
  if(arg_MODULES)
    foreach(module IN LISTS arg_MODULES)
      string(REPLACE "/" "_" module "${module}")
      if(TARGET parley_${module})
        target_link_libraries(${name} PRIVATE parley_${module})
      endif()
      target_link_libraries(${name} PRIVATE parley_${module}_headers)
    endforeach()
    target_link_libraries(${name} PRIVATE Threads::Threads $<$<BOOL:${PARLEY_WITH_OPENSSL}>:OpenSSL::SSL>)
  else()
    target_link_libraries(${name} PRIVATE parley_internal)
  endif()
  parley_test_headers_for(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set(entries ${name})
  if(NOT PARLEY_TEST_EVERYTHING AND NOT arg_ALWAYS)
    set(arg_TRANSPORTS "")
  endif()
  foreach(transport IN LISTS arg_TRANSPORTS)
    add_test(NAME ${name}_${transport} COMMAND ${name} ${arg_ARGS})
    set_tests_properties(${name}_${transport} PROPERTIES ENVIRONMENT PARLEY_TRANSPORTS=${transport})
    list(APPEND entries ${name}_${transport})
  endforeach()
  if(arg_ON_DEVICE)
    foreach(entry IN LISTS entries)
      add_test(NAME ${entry}_gpu COMMAND ${name} ${arg_ARGS})
      get_test_property(${entry} ENVIRONMENT environment)
      if(environment)
        set_tests_properties(${entry}_gpu PROPERTIES ENVIRONMENT "${environment}")
      endif()
      list(APPEND device_entries ${entry}_gpu)
    endforeach()
  endif()
  set_tests_properties(${entries} ${device_entries} PROPERTIES
    TIMEOUT ${timeout} LABELS "${arg_LABELS}" PROCESSORS ${slots} RUN_SERIAL ${arg_RUN_SERIAL})
  # The busiest first: those that wait run beside them. Of equally busy ones those that take long, so that none of
  # them is left to the end, with nothing beside it.
  math(EXPR cost "1000 * ${slots} + ${arg_TIMEOUT}")
  set_tests_properties(${entries} ${device_entries} PROPERTIES COST ${cost})
  if(device_entries)
    parley_run_on_device(${name} ${device_entries})
  endif()
endfunction()
