# The installed contract suite, run by a transport that is not of this tree; and by a broken one, which it notices.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

run("${CMAKE_COMMAND}" --install "${PARLEY_BINARY_DIR}" --prefix "${WORK_DIR}/staging" --component transport_contract)
install_and_move("${PARLEY_BINARY_DIR}" "${WORK_DIR}/prefix")
configure_and_build("${CMAKE_CURRENT_LIST_DIR}/transport" "${WORK_DIR}/toy" "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix")

run("${WORK_DIR}/toy/toy_test" --gtest_brief=1)
if(NOT output MATCHES "([0-9]+) tests from 1 test suite ran" OR CMAKE_MATCH_1 LESS 60)
  message(FATAL_ERROR "the suite has not been run whole:\n${output}")
endif()

set(ENV{TOY_IS_BROKEN} yes)
set(ENV{PARLEY_CONTRACT_PATIENCE} 3)
execute_process(COMMAND "${WORK_DIR}/toy/toy_test" --gtest_filter=*StopAcceptingKeepsWhatIsThere/*OneThread
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT output MATCHES "1 FAILED TEST")
  message(FATAL_ERROR "the suite does not notice a transport that goes on accepting (${result}):\n${output}")
endif()
