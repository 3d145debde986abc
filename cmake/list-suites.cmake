# SPDX-License-Identifier: GPL-2.0-only
#
# cmake -D RUNNER=program -D OUTPUT=file -P list-suites.cmake
#
# Asks an ns-3 test runner for its suites and writes a file for ctest with a test for each. It runs
# whenever the runner has been linked, so a new suite needs no entry in any list. A runner that
# crashes already here becomes a failing test: the rest shall be built and tested all the same.

set(tests "")
function(add_runner_test name argument)
  string(APPEND tests "add_test([=[ns3/${name}]=] [=[${RUNNER}]=] [=[${argument}]=])\n"
         "set_tests_properties([=[ns3/${name}]=] PROPERTIES LABELS ns3 TIMEOUT 600)\n")
  set(tests "${tests}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${RUNNER} --list OUTPUT_VARIABLE names RESULT_VARIABLE failed)
if(failed)
  message("${RUNNER} --list: ${failed}")
  add_runner_test("list of suites" --list)
else()
  string(REGEX MATCHALL "[^\n]+" names "${names}")
  foreach(name ${names})
    string(STRIP "${name}" name)
    add_runner_test("${name}" "--suite=${name}")
    if(name STREQUAL scaleacross-look-ahead)
      # Engines have to agree on a coarse clock too, which is the one inside ns-3.
      add_runner_test("${name}, nanoseconds" "--suite=${name}")
      string(APPEND tests "set_tests_properties([=[ns3/${name}, nanoseconds]=] PROPERTIES "
                          "ENVIRONMENT SCALEACROSS_TEST_CLOCK=ns)\n")
    endif()
  endforeach()
endif()
file(WRITE ${OUTPUT} "${tests}")
