# NCCL's header, if it is here and CUDA is built in. The library itself is opened at run time. Sets PARLEY_HAS_NCCL (ON or
# OFF) and, for targets that include <nccl.h>, parley_nccl_headers.
set(PARLEY_HAS_NCCL OFF)
if(NOT PARLEY_HAS_CUDA)
  return()
endif()
set(parley_nccl_needed 21801)
find_path(PARLEY_NCCL_INCLUDE_DIR nccl.h DOC "Folder of NCCL's nccl.h"
  HINTS "${PARLEY_CUDA_INCLUDE_DIR}" ENV NCCL_HOME PATH_SUFFIXES include)
set(parley_nccl_version 0)
if(PARLEY_NCCL_INCLUDE_DIR)
  file(STRINGS "${PARLEY_NCCL_INCLUDE_DIR}/nccl.h" parley_nccl_line REGEX "^#define NCCL_VERSION_CODE [0-9]+" LIMIT_COUNT 1)
  if(parley_nccl_line MATCHES "([0-9]+)$")
    set(parley_nccl_version ${CMAKE_MATCH_1})
  endif()
endif()
if(NOT PARLEY_NCCL_INCLUDE_DIR)
  message(STATUS "NCCL: left out (nccl.h was not found: install NCCL, or set NCCL_HOME or PARLEY_NCCL_INCLUDE_DIR)")
  return()
elseif(parley_nccl_version LESS parley_nccl_needed)
  message(STATUS "NCCL: left out (${PARLEY_NCCL_INCLUDE_DIR}/nccl.h is of version ${parley_nccl_version}, and Parley needs \
${parley_nccl_needed})")
  return()
endif()

set(PARLEY_HAS_NCCL ON)
message(STATUS "NCCL: ${parley_nccl_version}, ${PARLEY_NCCL_INCLUDE_DIR}")
add_library(parley_nccl_headers INTERFACE)
target_include_directories(parley_nccl_headers SYSTEM INTERFACE "${PARLEY_NCCL_INCLUDE_DIR}" "${PARLEY_CUDA_INCLUDE_DIR}")
