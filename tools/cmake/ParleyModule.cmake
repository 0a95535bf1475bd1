# One target per module folder. Every file is listed; what a module may depend on is the layer table of the
# house plan, repeated here as DEPENDS and checked by tools/check_layers.py.

# Flags that every target of the project shares; nothing here reaches a consumer.
add_library(parley_build_flags INTERFACE)
target_compile_features(parley_build_flags INTERFACE cxx_std_20)
target_compile_options(parley_build_flags INTERFACE
  -Wall -Wextra -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-sign-conversion
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>  # there, what files of other names hide is no mistake
  # Nor what a file keeps to itself, though it is included there.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>
  $<$<BOOL:${PARLEY_WARNINGS_AS_ERRORS}>:-Werror>)
# At -O3 GCC 12 takes the concatenation of strings for an overlapping copy (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(parley_build_flags INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(PARLEY_SANITIZE)
  target_compile_options(parley_build_flags INTERFACE
    -fsanitize=${PARLEY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(parley_build_flags INTERFACE -fsanitize=${PARLEY_SANITIZE})
endif()
if(PARLEY_FUZZ)
  target_compile_options(parley_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# For code beside the library whose speed nobody notices, such as what reads a command line by CLI11: optimizing it takes
# longer than it ever saves, in a sanitizer's build anywhere.
set(parley_seldom_run "")
if(PARLEY_SANITIZE)
  set(parley_seldom_run -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(parley_seldom_run -O1)
endif()

set_property(GLOBAL PROPERTY PARLEY_MODULES "")

# Compiles a target's files up to twenty at a time, as one text: headers are read, and templates made, once for all of
# them. That each file includes what it uses is then for `tools/check_headers.py --all` to see.
set(parley_files_of_a_text 20)
set(parley_unity UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${parley_files_of_a_text})
if(PARLEY_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${parley_files_of_a_text})
endif()

# parley_apart(TARGET FILE|FILE+FILE...): files of this folder whose unnamed namespaces have names of another file's, so
# that they are never compiled as one text with the target's other files, but each by itself; or together those that are
# joined by a plus. What two such targets of a folder share would be where the later one puts it.
function(parley_apart target)
  if(NOT ARGN)
    return()
  endif()
  get_target_property(rest ${target} SOURCES)
  list(FILTER rest INCLUDE REGEX "^[^$]*\\.cc$")
  set(number 0)
  foreach(text IN LISTS ARGN)
    string(REPLACE "+" ";" files "${text}")
    foreach(file IN LISTS files)
      if(NOT file IN_LIST rest)
        message(FATAL_ERROR "${target} has no source ${file} that could be compiled apart")
      endif()
    endforeach()
    list(REMOVE_ITEM rest ${files})
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP apart_${number})
    math(EXPR number "${number} + 1")
  endforeach()
  # The rest in texts of about the same size.
  list(LENGTH rest length)
  math(EXPR texts "(${length} + ${parley_files_of_a_text} - 1) / ${parley_files_of_a_text}")
  set(index 0)
  foreach(file IN LISTS rest)
    math(EXPR number "${index} * ${texts} / ${length}")
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP rest_${number})
    math(EXPR index "${index} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# parley_module(transport/tcp [UNOPTIMIZED_WITH_SANITIZERS] SOURCES a.cc b.cc [PUBLIC_HEADERS include/parley/x.h]
#               [DEPENDS transport/base ...] [PRIVATE_LINK parley_asio ...] [APART c.cc ...])
# A module without SOURCES has public headers only. APART: see parley_apart. UNOPTIMIZED_WITH_SANITIZERS: there it takes
# longer to optimize than it makes tests wait; but the fuzzers, which run it all the time.
function(parley_module folder)
  cmake_parse_arguments(arg "UNOPTIMIZED_WITH_SANITIZERS" "" "SOURCES;PUBLIC_HEADERS;DEPENDS;PRIVATE_LINK;APART" ${ARGN})
  string(REPLACE "/" "_" name "${folder}")

  # What others see of the module: its include paths. Objects are gathered once, by ParleyLibrary.cmake.
  add_library(parley_${name}_headers INTERFACE)
  target_include_directories(parley_${name}_headers INTERFACE "${PROJECT_SOURCE_DIR}")
  if(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/include")
    target_include_directories(parley_${name}_headers INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/include")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency "${dependency}")
    target_link_libraries(parley_${name}_headers INTERFACE parley_${dependency}_headers)
  endforeach()

  list(TRANSFORM arg_PUBLIC_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY PARLEY_PUBLIC_HEADERS ${arg_PUBLIC_HEADERS})
  if(NOT arg_SOURCES)
    return()
  endif()
  add_library(parley_${name} OBJECT ${arg_SOURCES})
  set_target_properties(parley_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(parley_${name} PRIVATE parley_build_flags parley_${name}_headers ${arg_PRIVATE_LINK})
  parley_apart(parley_${name} ${arg_APART})
  if(arg_UNOPTIMIZED_WITH_SANITIZERS AND PARLEY_SANITIZE AND NOT PARLEY_FUZZ)
    target_compile_options(parley_${name} PRIVATE -O0)
  endif()
  # The same once more, for programs that are optimized together with the library (ParleyLibrary.cmake).
  if(PARLEY_LTO)
    add_library(parley_${name}_lto OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
    set_target_properties(parley_${name}_lto PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON ${parley_unity}
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    parley_apart(parley_${name}_lto ${arg_APART})
    target_compile_options(parley_${name}_lto PRIVATE $<TARGET_PROPERTY:parley_${name},COMPILE_OPTIONS>)
    target_compile_definitions(parley_${name}_lto PRIVATE $<TARGET_PROPERTY:parley_${name},COMPILE_DEFINITIONS>)
    target_link_libraries(parley_${name}_lto PRIVATE parley_build_flags parley_${name}_headers ${arg_PRIVATE_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY PARLEY_MODULES ${name})
endfunction()
