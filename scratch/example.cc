// SPDX-License-Identifier: GPL-2.0-only

// A template for scripts of your own: copy it to scratch/NAME.cc, then
//
//     ./scaleacross script scratch-NAME [--arguments]
//
// builds and runs it. Scripts here are ignored by git.

#include "core/base/version.h"

#include "ns3/core-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    Time stop = MicroSeconds(5);

    CommandLine cmd(__FILE__);
    cmd.AddValue("stop", "Simulated time to run for", stop);
    cmd.Parse(argc, argv);

    Simulator::Stop(stop);
    Simulator::Run();
    std::cout << "ScaleAcross " << scaleacross::Version() << " stopped at "
              << Simulator::Now().As(Time::US) << "\n";
    Simulator::Destroy();
    return 0;
}
