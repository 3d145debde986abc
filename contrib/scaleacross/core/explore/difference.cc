// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/difference.h"

#include <cmath>

namespace scaleacross
{

double
RelativeError(Duration time, Duration reference)
{
    if (reference.Ps() == 0)
    {
        return time.Ps() == 0 ? 0 : 1;
    }
    return static_cast<double>(time.Ps()) / static_cast<double>(reference.Ps()) - 1;
}

std::string
ReasonOfDifference(const ParallelPlan& plan, const RunReport& packet)
{
    const NetworkReport& counted = packet.network;
    std::string reason;
    const auto add = [&reason](bool applies, const char* name) {
        if (applies)
        {
            reason += (reason.empty() ? "" : "+") + std::string(name);
        }
    };
    add(counted.packetsDropped > 0 || counted.retransmissions > 0, "loss");
    add(counted.pauses > 0, "pause");
    add(counted.collisionFactor > 1 + kEngineTolerance, "collision");
    if (!reason.empty())
    {
        return reason;
    }
    // Tensor parallel traffic stays inside the server and meets nobody on the network.
    uint32_t kinds = 0;
    for (const CommClass comm :
         {CommClass::Context, CommClass::Expert, CommClass::Pipeline, CommClass::Data})
    {
        const bool sharded = comm == CommClass::Data && plan.sharding->optimizer;
        kinds += packet.Of(comm).bytes.Count() == 0 ? 0 : sharded ? 2 : 1;
    }
    return kinds > 1 ? "contention" : "unexplained";
}

bool
Differs(const ClassReport& part, const ClassReport& reference)
{
    return std::abs(RelativeError(part.busy, reference.busy)) > kEngineTolerance;
}

bool
DiffersSomewhere(const RunReport& report, const RunReport& reference)
{
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        if (Differs(report.classes[c], reference.classes[c]))
        {
            return true;
        }
    }
    return std::abs(RelativeError(report.iterationTime, reference.iterationTime)) >
           kEngineTolerance;
}

} // namespace scaleacross
