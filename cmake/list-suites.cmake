# SPDX-License-Identifier: GPL-2.0-only
#
# cmake -D RUNNER=program -D OUTPUT=file -P list-suites.cmake
#
# Asks an ns-3 test runner for its suites and writes a file for ctest with a test for each. It runs
# whenever the runner has been linked, so a new suite needs no entry in any list.

execute_process(COMMAND ${RUNNER} --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")
set(tests "")
foreach(name ${names})
  string(STRIP "${name}" name)
  string(APPEND tests "add_test([=[ns3/${name}]=] [=[${RUNNER}]=] [=[--suite=${name}]=])\n"
         "set_tests_properties([=[ns3/${name}]=] PROPERTIES LABELS ns3 TIMEOUT 120)\n")
endforeach()
file(WRITE ${OUTPUT} "${tests}")
