// SPDX-License-Identifier: GPL-2.0-only

#include "simulator-time.h"

#include "core/base/errors.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace scaleacross
{

int64_t
PicosecondsPerTick()
{
    if (ns3::Time::GetResolution() == ns3::Time::FS)
    {
        throw ConfigError("ns3::Time resolution",
                          "femtoseconds",
                          "ps, ns or coarser",
                          "call Time::SetResolution(Time::PS) first of all");
    }
    return ns3::TimeStep(1).GetPicoSeconds();
}

int64_t
SimulatorPicoseconds()
{
    return ns3::Simulator::Now().GetPicoSeconds();
}

} // namespace scaleacross
