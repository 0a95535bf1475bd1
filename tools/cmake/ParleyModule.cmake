# One target per module folder. Every file is listed; what a module may depend on is the layer table of the
# house plan, repeated here as DEPENDS and checked by tools/check_layers.py.

# Flags that every target of the project shares; nothing here reaches a consumer.
add_library(parley_build_flags INTERFACE)
target_compile_features(parley_build_flags INTERFACE cxx_std_20)
target_compile_options(parley_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-sign-conversion
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

set_property(GLOBAL PROPERTY PARLEY_MODULES "")

# parley_module(transport/tcp SOURCES a.cc b.cc [PUBLIC_HEADERS include/parley/x.h] [DEPENDS transport/base ...]
#               [PRIVATE_LINK parley_asio ...])
# A module without SOURCES has public headers only.
function(parley_module folder)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC_HEADERS;DEPENDS;PRIVATE_LINK" ${ARGN})
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
  # The same once more, for programs that are optimized together with the library (ParleyLibrary.cmake).
  if(PARLEY_LTO)
    add_library(parley_${name}_lto OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
    set_target_properties(parley_${name}_lto PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(parley_${name}_lto PRIVATE $<TARGET_PROPERTY:parley_${name},COMPILE_OPTIONS>)
    target_compile_definitions(parley_${name}_lto PRIVATE $<TARGET_PROPERTY:parley_${name},COMPILE_DEFINITIONS>)
    target_link_libraries(parley_${name}_lto PRIVATE parley_build_flags parley_${name}_headers ${arg_PRIVATE_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY PARLEY_MODULES ${name})
endfunction()
