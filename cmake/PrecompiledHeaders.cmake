# SPDX-License-Identifier: GPL-2.0-only
#
# Headers of other libraries that most of our sources include, for target_precompile_headers(): half
# of the time that one of our files takes to compile goes into reading them. None of our own are
# among them, so that a change of one compiles no more than it did. Sources name what they use all
# the same: the preset "clang" builds without precompiled headers and finds what is missing.

set(usual_headers
    <algorithm> <array> <cmath> <cstdint> <deque> <functional> <limits> <map> <memory> <numeric>
    <optional> <set> <sstream> <string> <tuple> <unordered_map> <utility> <variant> <vector>)
set(usual_ns3_headers
    <ns3/boolean.h> <ns3/callback.h> <ns3/data-rate.h> <ns3/double.h> <ns3/enum.h> <ns3/log.h>
    <ns3/node.h> <ns3/nstime.h> <ns3/object-factory.h> <ns3/object.h> <ns3/packet.h> <ns3/ptr.h>
    <ns3/random-variable-stream.h> <ns3/simulator.h> <ns3/string.h> <ns3/traced-callback.h>
    <ns3/type-id.h> <ns3/uinteger.h>)

# With them, ccache works only if it is told that their times and macros do not count, and if GCC
# names them in what it preprocesses.
if(CCACHE AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  list(INSERT CMAKE_CXX_COMPILER_LAUNCHER -1 CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
