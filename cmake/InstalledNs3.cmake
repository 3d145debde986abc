# SPDX-License-Identifier: GPL-2.0-only
#
# Finds an installed ns-3 and gives its libraries the names they have inside an ns-3 tree:
# ${libcore}, ${libnetwork} and so on. Defines build_lib() and build_lib_example() with the
# signatures of ns-3's own build-support, so that contrib/scaleacross/CMakeLists.txt serves both.

# No version in the call: ns-3's package accepts only requests for the same minor version.
find_package(ns3 CONFIG QUIET)
if(NOT ns3_FOUND)
  message(FATAL_ERROR "ns-3 is not installed (Debian: apt install libns3-dev ns3 libgsl-dev)")
endif()
if(ns3_VERSION VERSION_LESS 3.37)
  message(FATAL_ERROR "ns-3 ${ns3_VERSION} is too old, 3.37 or newer is needed (found in ${ns3_DIR})")
endif()
message(STATUS "ns-3 ${ns3_VERSION} in ${ns3_DIR}")

# The language standard which ns-3's headers ask for; our own code keeps to C++17.
if(ns3_VERSION VERSION_GREATER_EQUAL 3.46)
  set(CMAKE_CXX_STANDARD 23)
elseif(ns3_VERSION VERSION_GREATER_EQUAL 3.41)
  set(CMAKE_CXX_STANDARD 20)
else()
  set(CMAKE_CXX_STANDARD 17)
endif()

# Targets are called ns3::libcore up to 3.42 and ns3::core from 3.43 on.
get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
list(FILTER targets INCLUDE REGEX "^ns3::")
foreach(target ${targets})
  string(REGEX REPLACE "^ns3::(lib)?" "" module ${target})
  set(lib${module} ${target})

  # Debian's targets list directories of packages which are needed to build ns-3 only (Python's
  # headers, and /usr itself). CMake refuses targets with directories that do not exist.
  get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(existing)
  foreach(directory ${directories})
    if(EXISTS ${directory}/ns3)
      list(APPEND existing ${directory})
      set(ns3_headers ${directory}/ns3)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
endforeach()
set(libscaleacross libscaleacross)

# As Debian's build has it: logging is compiled in, and the layout of some classes depends on it.
# Assertions are compiled out there; they change no layout, so our debug builds may have them.
add_compile_definitions(NS3_LOG_ENABLE $<$<CONFIG:Debug>:NS3_ASSERT_ENABLE>)

# Makes "ns3/NAME.h" find the module's header where it stands, as ns-3 does in its build/include,
# and writes "ns3/<library>-module.h" which includes them all.
function(forward_headers library)
  set(all "")
  foreach(header ${ARGN})
    cmake_path(GET header FILENAME name)
    if(EXISTS ${ns3_headers}/${name})
      message(FATAL_ERROR "${header}: ns-3 has a header of this name already")
    endif()
    cmake_path(ABSOLUTE_PATH header)
    # Relative to the file that includes it, and so the same in every clone.
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_BINARY_DIR}/include/ns3)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/ns3/${name}
         CONTENT "#include \"${header}\"\n" @ONLY)
    string(APPEND all "#include \"ns3/${name}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/ns3/${library}-module.h
       CONTENT "#pragma once\n${all}" @ONLY)
endfunction()

# build_lib(LIBNAME name SOURCE_FILES ... HEADER_FILES ... LIBRARIES_TO_LINK ... TEST_SOURCES ...)
#
# Creates lib<name>, and <name>-test-runner whose suites each become a ctest test. lib<name> is an
# object library: every object reaches the program, also those which only register a TypeId.
function(build_lib)
  cmake_parse_arguments(ARG "" "LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES"
                        ${ARGN})
  set(library lib${ARG_LIBNAME})
  forward_headers(${ARG_LIBNAME} ${ARG_HEADER_FILES})
  if(ARG_SOURCE_FILES)
    add_library(${library} OBJECT ${ARG_SOURCE_FILES})
    target_precompile_headers(${library} PRIVATE ${usual_headers} ${usual_ns3_headers})
    set(scope PUBLIC)
  else()
    add_library(${library} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${library} ${scope} ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${library} ${scope} ${ARG_LIBRARIES_TO_LINK})

  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/examples/CMakeLists.txt)
    add_subdirectory(examples)
  endif()

  if(SCALEACROSS_TESTS AND ARG_TEST_SOURCES)
    set(runner ${ARG_LIBNAME}-test-runner)
    add_executable(${runner} ${ARG_TEST_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/test-runner.cc)
    target_link_libraries(${runner} PRIVATE ${library})
    target_precompile_headers(${runner} PRIVATE ${usual_headers} ${usual_ns3_headers} <ns3/test.h>)
    target_compile_options(${runner} PRIVATE $<$<CONFIG:Release>:-O0>) # enough for tests
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
               OUTPUT_VARIABLE folder)
    target_compile_definitions(${runner} PRIVATE NS_TEST_SOURCEDIR="${folder}/test")
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${runner}.cmake)
    add_custom_command(
      TARGET ${runner} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -D RUNNER=$<TARGET_FILE:${runner}> -D OUTPUT=${suites}
              -P ${PROJECT_SOURCE_DIR}/cmake/list-suites.cmake
      BYPRODUCTS ${suites})
    file(WRITE ${suites}.include "include(${suites} OPTIONAL)\n") # there is none before a build
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites}.include)
  endif()
endfunction()

# build_lib_example(NAME name SOURCE_FILES ... LIBRARIES_TO_LINK ...)
#
# Creates the program <name> and a ctest test which runs it. If there is a <name>.expected beside
# the sources, the program is run as its first line says ("$ name --size=1000") and has to print
# exactly the lines that follow; otherwise it is run without arguments and has to exit with 0.
function(build_lib_example)
  cmake_parse_arguments(ARG "" "NAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCE_FILES})
  target_link_libraries(${ARG_NAME} PRIVATE libscaleacross ${ARG_LIBRARIES_TO_LINK})
  if(SCALEACROSS_TESTS)
    add_test(
      NAME example/${ARG_NAME}
      COMMAND ${SCALEACROSS_PYTHON} ${PROJECT_SOURCE_DIR}/tests/house/run-example.py
              $<TARGET_FILE:${ARG_NAME}> ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAME}.expected)
    set_tests_properties(example/${ARG_NAME} PROPERTIES LABELS example)
  endif()
endfunction()
