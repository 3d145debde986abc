// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-detours.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/fabric-packet.h"
#include "ns3/fabric-switch.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::kPriorities;

namespace
{

constexpr uint64_t kAllLanes = (uint64_t{1} << kPriorities) - 1;

/// By service level, the lane on a detour.
std::map<uint32_t, uint32_t>
DetourLanes(const FabricHelper& fabric)
{
    std::set<uint32_t> used;
    for (const std::string& text : {fabric.GetQueuePairAttribute("Priority"),
                                    fabric.GetQueuePairAttribute("AckPriority"),
                                    fabric.GetQueuePairAttribute("CnpPriority"),
                                    fabric.GetConnectionAttribute("ControlPriority"),
                                    fabric.GetNicAttribute("PullPriority")})
    {
        used.insert(static_cast<uint32_t>(std::stoul(text)));
    }
    if (2 * used.size() > kPriorities)
    {
        throw ConfigError("UseDetourLanes",
                          std::to_string(used.size()) +
                              " priorities are used, and each needs one of the " +
                              std::to_string(kPriorities) + " virtual lanes more for detours",
                          "up to " + std::to_string(kPriorities / 2) + " priorities",
                          "let some of Priority, AckPriority, CnpPriority "
                          "(RdmaQueuePair), ControlPriority (RdmaConnection) and PullPriority "
                          "(RdmaNic) be the same, or set FabricSwitch::LaneMap");
    }
    std::set<uint32_t> free;
    for (uint32_t lane = 0; lane < kPriorities; ++lane)
    {
        if (used.count(lane) == 0)
        {
            free.insert(lane);
        }
    }
    std::map<uint32_t, uint32_t> lanes;
    for (const uint32_t level : used)
    {
        auto lane = free.upper_bound(level);
        lane = lane == free.end() ? std::prev(lane) : lane;
        lanes[level] = *lane;
        free.erase(lane);
    }
    return lanes;
}

/// Ports whose neighbour is a NIC.
std::vector<uint32_t>
EntryPorts(const FabricSwitch& fabricSwitch)
{
    std::vector<uint32_t> ports;
    for (uint32_t i = 0; i < fabricSwitch.GetNPorts(); ++i)
    {
        const Ptr<FabricPort> peer = fabricSwitch.GetPort(i)->GetPeer();
        if (peer && peer->IsNic())
        {
            ports.push_back(i);
        }
    }
    return ports;
}

/// "in any out 9 3:4,6:5": the rule for two ports; `own`: for packets of the switch's own NICs. The
/// level of a detour's lane is taken for the one that goes on by it, so that no packet, whatever
/// its level, begins on a lane that others end on.
std::string
Rule(const std::string& in,
     const std::string& out,
     const std::map<uint32_t, uint32_t>& lanes,
     bool own)
{
    std::string text;
    for (const auto& [level, lane] : lanes)
    {
        for (const uint32_t either : {level, lane})
        {
            text += (text.empty() ? "" : ",") + std::to_string(either) + ":" +
                    std::to_string(own ? level : lane);
        }
    }
    return "in " + in + " out " + out + " " + text;
}

} // namespace

void
UseDetourLanes(const FabricHelper& fabric)
{
    const std::map<uint32_t, uint32_t> lanes = DetourLanes(fabric);
    bool detours = false;
    uint64_t used = 0;
    for (const auto& [level, lane] : lanes)
    {
        used |= (uint64_t{1} << level) | (uint64_t{1} << lane);
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        const std::vector<uint32_t> entries = EntryPorts(*fabricSwitch);
        std::string text;
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts() && !entries.empty(); ++i)
        {
            const auto peer = DynamicCast<SwitchPort>(fabricSwitch->GetPort(i)->GetPeer());
            if (peer && !EntryPorts(peer->GetSwitch()).empty())
            {
                text += (text.empty() ? "" : "; ") + Rule("any", std::to_string(i), lanes, false);
            }
        }
        if (text.empty() || !fabricSwitch->HasCredits())
        {
            continue;
        }
        for (const uint32_t entry : entries)
        {
            text += "; " + Rule(std::to_string(entry), "any", lanes, true);
        }
        fabricSwitch->SetLaneMap(text);
        detours = true;
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        UintegerValue lanesThere;
        fabricSwitch->GetAttribute("VirtualLanes", lanesThere);
        if (detours && lanesThere.Get() == kAllLanes)
        {
            fabricSwitch->SetAttribute("VirtualLanes", UintegerValue(used));
        }
    }
}

} // namespace ns3
