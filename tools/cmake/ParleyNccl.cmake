# NCCL's nccl.h, if it is here, for the seam of api/nccl: the library itself is opened at run time, so nothing of NCCL
# is linked. Sets PARLEY_HAS_NCCL (ON or OFF), for targets that include <nccl.h> parley_nccl_headers, and for tests
# PARLEY_NCCL_LIBRARY, the path of a libnccl.so.2 of this machine. After ParleyCuda.
set(PARLEY_HAS_NCCL OFF)
set(parley_nccl_needed 2.18.1)
if(NOT PARLEY_HAS_CUDA)
  message(STATUS "NCCL: left out (it needs CUDA)")
  return()
endif()

find_path(PARLEY_NCCL_INCLUDE_DIR nccl.h DOC "Folder of NCCL's nccl.h"
  HINTS ENV NCCL_HOME "${PARLEY_CUDA_INCLUDE_DIR}" PATH_SUFFIXES include)
set(parley_nccl_version 0)
if(PARLEY_NCCL_INCLUDE_DIR)
  file(STRINGS "${PARLEY_NCCL_INCLUDE_DIR}/nccl.h" parley_nccl_lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) [0-9]+")
  list(JOIN parley_nccl_lines "." parley_nccl_version)
  string(REGEX REPLACE "[^0-9.]" "" parley_nccl_version "${parley_nccl_version}")
endif()
set(parley_nccl_lack "")
if(NOT PARLEY_NCCL_INCLUDE_DIR)
  set(parley_nccl_lack "nccl.h was not found: install NCCL, or set NCCL_HOME or PARLEY_NCCL_INCLUDE_DIR")
elseif(parley_nccl_version VERSION_LESS parley_nccl_needed)
  set(parley_nccl_lack "${PARLEY_NCCL_INCLUDE_DIR}/nccl.h is of version ${parley_nccl_version}, and Parley needs \
${parley_nccl_needed}")
elseif(NOT EXISTS "${PARLEY_CUDA_INCLUDE_DIR}/cuda_fp16.h")
  set(parley_nccl_lack "nccl.h needs cuda_fp16.h, which is not in ${PARLEY_CUDA_INCLUDE_DIR}")
endif()
if(parley_nccl_lack)
  message(STATUS "NCCL: left out (${parley_nccl_lack})")
  return()
endif()

set(PARLEY_HAS_NCCL ON)
message(STATUS "NCCL: ${parley_nccl_version}, ${PARLEY_NCCL_INCLUDE_DIR}")
add_library(parley_nccl_headers INTERFACE)
target_include_directories(parley_nccl_headers SYSTEM INTERFACE "${PARLEY_NCCL_INCLUDE_DIR}")
target_link_libraries(parley_nccl_headers INTERFACE parley_cuda_headers)
find_file(PARLEY_NCCL_LIBRARY libnccl.so.2 DOC "NCCL's library, for tests"
  HINTS ENV NCCL_HOME "${PARLEY_NCCL_INCLUDE_DIR}/.." "${parley_cuda_prefix}"
  PATHS /usr /usr/local PATH_SUFFIXES lib lib64 "lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
