// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/nstime.h"
#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    // What the packet engine uses: expected times are exact to the picosecond.
    ns3::Time::SetResolution(ns3::Time::PS);
    return ns3::TestRunner::Run(argc, argv);
}
