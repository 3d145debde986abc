# SPDX-License-Identifier: GPL-2.0-only

# add_part(name SOURCES ... LINK ...)
#
# A static library, or an empty stand-in as long as its folder has no sources.
function(add_part name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} ${ARG_LINK})
endfunction()
