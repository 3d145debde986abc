// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-traffic.h"

#include "core/base/errors.h"
#include "core/topology/event-target.h"
#include "core/topology/routing.h"

#include "ns3/data-rate.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-path.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/rdma-nic.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace ns3
{

using namespace scaleacross;

namespace
{

/// NICs at each end of n parallel links, where pairs of them are hashed: for the last link, too, m
/// are free at both ends with m^2 > 20 n, so that no pair of theirs takes it with a probability of
/// (1 - 1/n)^(m^2) < e^-20.
size_t
NicsFor(size_t links)
{
    return links + static_cast<size_t>(std::ceil(std::sqrt(20.0 * static_cast<double>(links))));
}

DataRate
ToDataRate(BitRate rate)
{
    return DataRate(static_cast<uint64_t>(std::llround(rate.Value())));
}

} // namespace

void
ForeignTraffic::Build(FabricHelper& fabric,
                      const Scenario& scenario,
                      const FabricGraph& graph,
                      const GraphFabric& built)
{
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        const EventSpec& event = scenario.events[i];
        const std::string where = "events." + std::to_string(i);
        if (event.kind->change != EventChange::Shares)
        {
            continue;
        }
        if (RoutingOf(scenario.cluster).HasDetours())
        {
            throw ConfigError(where,
                              "its NICs on the switches at the ends of the span would be ways "
                              "around for packets of the job",
                              "buildings of shape clos",
                              "a degradation to the factor 1 - load takes as much of the span");
        }
        std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> links; // by their switches
        for (const uint32_t index : TargetOf(scenario.cluster, graph, event, where).links)
        {
            links[{graph.links[index].a, graph.links[index].b}].push_back(index);
        }
        const uint64_t data = std::stoul(fabric.GetQueuePairAttribute("Priority"));
        fabric.SetNicAttribute("ForeignPriority", UintegerValue(data + 1));
        for (const auto& [ends, indices] : links)
        {
            Bundle bundle;
            bundle.event = event;
            bundle.rate = ToDataRate(graph.links[indices.front()].rate);
            for (const uint32_t index : indices)
            {
                bundle.wires.push_back(built.wires[index]);
            }
            const PathOwner owner = scenario.network.multipath->owner;
            if (indices.size() > 1 && owner == PathOwner::Destination)
            {
                throw ConfigError(where,
                                  "of " + std::to_string(indices.size()) +
                                      " links between two switches all that goes to one NIC of "
                                      "others would take the same, by " +
                                      ToString(scenario.network.multipath),
                                  "one lane, or another multipath",
                                  "set lanes of the span to 1");
            }
            bundle.byPair = indices.size() > 1 && owner == PathOwner::NicPair;
            const size_t nics = bundle.byPair ? NicsFor(indices.size()) : indices.size();
            for (const auto& [end, vertex] : {std::pair(0, ends.first), {1, ends.second}})
            {
                for (size_t n = 0; n < nics; n++)
                {
                    bundle.nics[end].push_back(fabric.AddNic(fabric.AddHost()));
                    // As near as the first NIC of the cluster is to its leaf.
                    fabric.Connect(bundle.nics[end].back(),
                                   built.switches[vertex - built.nics.size()],
                                   bundle.rate,
                                   PicoSeconds(graph.links.front().delay.Ps()));
                }
            }
            m_bundles.push_back(std::move(bundle));
        }
    }
}

void
ForeignTraffic::InstallSources()
{
    for (const Bundle& bundle : m_bundles)
    {
        for (const size_t end : {0, 1})
        {
            if (bundle.byPair)
            {
                AddSourcesByPair(bundle, end);
                continue;
            }
            for (size_t i = 0; i < bundle.wires.size(); i++)
            {
                AddSource(bundle, bundle.nics[end][i], bundle.nics[1 - end][i]);
            }
        }
    }
    m_bundles.clear();
}

void
ForeignTraffic::AddSourcesByPair(const Bundle& bundle, size_t end)
{
    std::vector<Ptr<RdmaNic>> senders = bundle.nics[end];
    std::vector<Ptr<RdmaNic>> receivers = bundle.nics[1 - end];
    for (const Ptr<FabricWire>& wire : bundle.wires)
    {
        const auto port = DynamicCast<FabricPort>(wire->GetDevice(end));
        const auto takes = [&port](const Ptr<RdmaNic>& from, const Ptr<RdmaNic>& to) {
            const auto path = PathOf({from, to, 0, 0});
            return std::find(path.begin(), path.end(), port) != path.end();
        };
        bool found = false;
        for (size_t i = 0; i < senders.size() && !found; i++)
        {
            for (size_t k = 0; k < receivers.size() && !found; k++)
            {
                if (takes(senders[i], receivers[k]))
                {
                    AddSource(bundle, senders[i], receivers[k]);
                    senders.erase(senders.begin() + i); // which are as fast as one link
                    receivers.erase(receivers.begin() + k);
                    found = true;
                }
            }
        }
        if (!found)
        {
            throw ConfigError("events",
                              "no pair of others' NICs takes one of " +
                                  std::to_string(bundle.wires.size()) + " parallel links",
                              "fewer lanes, or a multipath that sees more than the pair of NICs",
                              "");
        }
    }
}

void
ForeignTraffic::AddSource(const Bundle& bundle, const Ptr<RdmaNic>& from, const Ptr<RdmaNic>& to)
{
    auto source = CreateObject<ForeignSource>();
    const double rate = static_cast<double>(bundle.rate.GetBitRate()) * bundle.event.load;
    source->SetAttribute("Rate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    source->SetAttribute("PacketSize", UintegerValue(from->GetMtu()));
    source->SetEnds(from, to);
    source->SetStartTime(PicoSeconds(bundle.event.at.Ps()));
    source->SetStopTime(PicoSeconds(bundle.event.until.Ps())); // 0: never
    from->GetNode()->AddApplication(source);
    m_sources.push_back(source);
}

int64_t
ForeignTraffic::AssignStreams(int64_t stream)
{
    int64_t used = 0;
    for (const Ptr<ForeignSource>& source : m_sources)
    {
        used += source->AssignStreams(stream + used);
    }
    return used;
}

} // namespace ns3
