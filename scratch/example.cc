// SPDX-License-Identifier: GPL-2.0-only

// A template for scripts of your own: copy it to scratch/NAME.cc, then
//
//     ./scaleacross script scratch-NAME [--arguments]
//
// builds and runs it. Scripts here are ignored by git. To see what connections do:
//
//     NS_LOG=RdmaConnection=level_info ./scaleacross script scratch-example
//
// It has two buildings, an all-reduce over both and background traffic. --fct=fct.csv writes the
// times of messages, which analysis/fct.py draws.

#include "ns3/core-module.h"
#include "ns3/scaleacross-module.h"

#include <iostream>
#include <string>

using namespace ns3;

namespace
{

void
Done(uint32_t repetition, Time took)
{
    std::cout << "all-reduce " << repetition << " took " << took.As(Time::US) << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t servers = 4;
    double load = 0.2;
    std::string fctFile;
    CommandLine cmd(__FILE__);
    cmd.AddValue("servers", "Servers of each building", servers);
    cmd.AddValue("load", "Of the background traffic, of the rate of the NICs", load);
    cmd.AddValue("fct", "File to write the times of messages to", fctFile);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS); // first of all

    FabricHelper fabric;
    UseControl(fabric, "dcqcn");
    FabricBuildingHelper buildings;
    buildings.AddBuilding(servers, 2, DataRate("100Gbps"));
    buildings.AddBuilding(servers, 2, DataRate("100Gbps"));
    buildings.AddSpan(0, 1, DataRate("400Gbps"), MicroSeconds(50));
    buildings.Install(fabric);
    fabric.AssignStreams(1);

    CollectiveHelper allReduce("all_reduce", 16 << 20);
    allReduce.SetCompletionCallback(MakeCallback(&Done));
    allReduce.Install(fabric, fabric.Nics());

    RdmaTrafficHelper background("web-search", load);
    ApplicationContainer sources = background.Install(fabric, fabric.Nics());
    RdmaTrafficHelper::AssignStreams(sources, 10'000);
    sources.Stop(MilliSeconds(2));

    FabricFctHelper fct(fabric);
    if (!fctFile.empty())
    {
        fct.Enable(fctFile);
    }
    Simulator::Run();
    std::cout << CheckConservation(fabric).Text() << "\n";
    Simulator::Destroy();
    return 0;
}
