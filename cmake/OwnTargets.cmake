# SPDX-License-Identifier: GPL-2.0-only

# add_part(name SOURCES ... LINK ... [HEADERS ...])
#
# A static library, or an empty stand-in as long as its folder has no sources. HEADERS are compiled
# once for all its sources, beside those of the standard library.
function(add_part name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;HEADERS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_precompile_headers(${name} PRIVATE ${usual_headers} ${ARG_HEADERS})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} ${ARG_LINK})
endfunction()
