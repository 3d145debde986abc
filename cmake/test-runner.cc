// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/nstime.h"
#include "ns3/test.h"

#include <cstdlib>
#include <string>

int
main(int argc, char* argv[])
{
    // What the packet engine uses: expected times are exact to the picosecond. Inside ns-3 suites
    // run with its own default, which is had here by SCALEACROSS_TEST_CLOCK=ns.
    const char* clock = std::getenv("SCALEACROSS_TEST_CLOCK");
    if (clock == nullptr || std::string(clock) != "ns")
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    return ns3::TestRunner::Run(argc, argv);
}
