# What PARLEY_CUDA promises: ON insists, AUTO does without and says why, and no program needs CUDA's driver to start.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(toolkit "${WORK_DIR}/old_toolkit")
file(WRITE "${toolkit}/cuda.h" "#define CUDA_VERSION 11080\n")
set(old "PARLEY_CUDA_INCLUDE_DIR=${toolkit}")
string(REPLACE " " "[ \n]+" what "[^,]+/cuda.h is of version 11080, and Parley needs 12000")  # CMake breaks lines
set(without_the_rest -DPARLEY_BUILD_TESTS=OFF -DPARLEY_BUILD_BENCH=OFF -DPARLEY_BUILD_TOOLS=OFF -DPARLEY_BUILD_EXAMPLES=OFF)

configure("${PARLEY_SOURCE_DIR}" "${WORK_DIR}/auto" -DPARLEY_CUDA=AUTO "-D${old}" -DPARLEY_NVCC=${CMAKE_COMMAND}
  ${without_the_rest})
if(NOT output MATCHES "CUDA: left[ \n]+out[ \n]+\\(${what}\\)")
  message(FATAL_ERROR "AUTO does not say why it leaves CUDA out:\n${output}")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PARLEY_SOURCE_DIR}" -B "${WORK_DIR}/on" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${CXX}" -DPARLEY_CUDA=ON "-D${old}" -DPARLEY_NVCC=${CMAKE_COMMAND} ${without_the_rest}
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT output MATCHES "PARLEY_CUDA=ON,[ \n]+but[ \n]+${what}")
  message(FATAL_ERROR "ON goes on without a toolkit that is new enough (${result}):\n${output}")
endif()

run(ldd "${PARLEY_RUN}")
if(output MATCHES "libcuda|libnvidia|libnccl")
  message(FATAL_ERROR "a program needs a driver or NCCL to start:\n${output}")
endif()
