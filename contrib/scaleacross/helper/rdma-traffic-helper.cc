// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-traffic-helper.h"

#include "core/base/errors.h"

#include "ns3/double.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-traffic-application.h"
#include "ns3/string.h"

#include <utility>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FlowSizes;

RdmaTrafficHelper::RdmaTrafficHelper(const std::string& distribution, double load)
    : RdmaTrafficHelper(FlowSizes::Named(distribution), load)
{
}

RdmaTrafficHelper::RdmaTrafficHelper(FlowSizes sizes, double load)
    : m_sizes(std::move(sizes)),
      m_load(load)
{
    if (!(load > 0 && load <= 1))
    {
        throw ConfigError("RdmaTrafficHelper",
                          "a load of " + std::to_string(load),
                          "more than 0, up to 1, of the rate of a NIC",
                          "install several helpers for more");
    }
}

void
RdmaTrafficHelper::SetMaxFlows(uint64_t flows)
{
    m_maxFlows = flows;
}

ApplicationContainer
RdmaTrafficHelper::Install(FabricHelper& fabric, const RdmaNicContainer& nics) const
{
    return Install(fabric, nics, nics);
}

ApplicationContainer
RdmaTrafficHelper::Install(FabricHelper& fabric,
                           const RdmaNicContainer& from,
                           const RdmaNicContainer& to) const
{
    ConnectionAttributes attributes = fabric.GetConnectionAttributes();
    if (fabric.GetConnectionAttribute("Label").empty())
    {
        attributes.connection.Set("Label", StringValue("background"));
    }
    from.GetNodes(); // throws if one has none
    ApplicationContainer sources;
    for (const Ptr<RdmaNic>& nic : from)
    {
        RdmaNicContainer others;
        for (const Ptr<RdmaNic>& other : to)
        {
            if (other != nic)
            {
                others.Add(other);
            }
        }
        if (others.GetN() == 0 || !nic->GetWire())
        {
            throw ConfigError("RdmaTrafficHelper::Install",
                              nic->Describe() +
                                  (others.GetN() == 0 ? " has nobody to send to" : " has no wire"),
                              "NICs with a wire, and another one to send to",
                              "");
        }
        const auto interval = CreateObject<ExponentialRandomVariable>();
        const auto rate = static_cast<double>(nic->GetDataRate().GetBitRate());
        interval->SetAttribute("Mean", DoubleValue(8 * m_sizes.Mean() / (m_load * rate)));
        const auto size = CreateObject<EmpiricalRandomVariable>();
        size->SetInterpolate(true);
        for (const FlowSizes::Point& point : m_sizes.Points())
        {
            size->CDF(point.bytes, point.probability);
        }
        const auto source = CreateObject<RdmaTrafficApplication>();
        source->SetInterval(interval);
        source->SetSize(size);
        source->SetMaxFlows(m_maxFlows);
        source->SetDestinations(others.GetN(), [&fabric, nic, others, attributes](uint32_t i) {
            return fabric.CreateConnection(nic, others.Get(i), attributes);
        });
        nic->GetNode()->AddApplication(source);
        sources.Add(source);
    }
    return sources;
}

int64_t
RdmaTrafficHelper::AssignStreams(const ApplicationContainer& sources, int64_t stream)
{
    int64_t next = stream;
    for (auto source = sources.Begin(); source != sources.End(); ++source)
    {
        if (const auto traffic = DynamicCast<RdmaTrafficApplication>(*source))
        {
            next += traffic->AssignStreams(next);
        }
    }
    return next - stream;
}

} // namespace ns3
