// SPDX-License-Identifier: GPL-2.0-only

#include "collective-helper.h"

#include "core/base/errors.h"
#include "core/spec/scenario.h"
#include "core/work/collectives/lowering.h"
#include "core/work/graph/collective-graph.h"

#include "ns3/collective-application.h"
#include "ns3/collective-group.h"
#include "ns3/fabric-helper.h"
#include "ns3/node.h"
#include "ns3/nvlink-domain.h"
#include "ns3/rdma-connection.h"
#include "ns3/string.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace ns3
{

using scaleacross::BuildingSpec;
using scaleacross::Bytes;
using scaleacross::CollectiveAlgorithm;
using scaleacross::CollectiveAlgorithmFacts;
using scaleacross::CollectiveOp;
using scaleacross::ConfigError;
using scaleacross::Infeasible;
using scaleacross::LoweringRules;
using scaleacross::Rank;
using scaleacross::RankLayout;
using scaleacross::RunError;
using scaleacross::Scenario;
using scaleacross::TaskGraph;

namespace
{

/// The operations whose members hold bytes, by their words.
CollectiveOp
OperationOf(const std::string& word)
{
    std::string words;
    for (const CollectiveOp op : {CollectiveOp::AllReduce,
                                  CollectiveOp::AllGather,
                                  CollectiveOp::ReduceScatter,
                                  CollectiveOp::AllToAll,
                                  CollectiveOp::SendReceive})
    {
        if (ToString(op) == word)
        {
            return op;
        }
        words += (words.empty() ? "" : ", ") + ToString(op);
    }
    throw ConfigError("CollectiveHelper", "there is no operation '" + word + "'", words, "");
}

/// The value, or a ConfigError that says why there is none.
template <class Value>
Value
Need(std::variant<Value, Infeasible> found)
{
    if (const auto* no = std::get_if<Infeasible>(&found))
    {
        throw ConfigError("CollectiveHelper::Install", no->detail, "", "");
    }
    return std::move(*std::get_if<Value>(&found));
}

/// The word of an operation as a label of connections.
void
SetLabel(ConnectionAttributes& attributes, const FabricHelper& fabric, CollectiveOp op)
{
    if (fabric.GetConnectionAttribute("Label").empty())
    {
        attributes.connection.Set("Label", StringValue(ToString(op)));
    }
}

} // namespace

CollectiveHelper::CollectiveHelper(const std::string& operation, uint64_t bytes)
{
    m_spec.op = OperationOf(operation);
    m_spec.bytes = Bytes(bytes);
    if (bytes == 0)
    {
        throw ConfigError("CollectiveHelper", operation + " of 0 bytes", "1 or more", "");
    }
}

void
CollectiveHelper::SetAlgorithm(const std::string& algorithm)
{
    std::string words;
    for (const CollectiveAlgorithmFacts* row : CollectiveAlgorithm::Rows())
    {
        // What chooses, or is a library's, goes by the times of a whole study.
        if (row->chooses || row->library)
        {
            continue;
        }
        if (row->word == algorithm)
        {
            m_algorithm = CollectiveAlgorithm(*row);
            return;
        }
        words += (words.empty() ? "" : ", ") + row->word;
    }
    throw ConfigError("CollectiveHelper::SetAlgorithm",
                      "there is no algorithm '" + algorithm + "' for scripts",
                      words,
                      "");
}

void
CollectiveHelper::SetRepetitions(uint32_t repetitions)
{
    if (repetitions == 0)
    {
        throw ConfigError("CollectiveHelper::SetRepetitions", "0 repetitions", "1 or more", "");
    }
    m_repetitions = repetitions;
}

void
CollectiveHelper::SetChunkSize(uint64_t bytes)
{
    m_chunk = bytes;
}

void
CollectiveHelper::SetCompletionCallback(CompletionCallback callback)
{
    m_completion = callback;
}

ApplicationContainer
CollectiveHelper::Install(FabricHelper& fabric, const RdmaNicContainer& nics) const
{
    return Install(fabric, std::vector<RdmaNicContainer>{nics});
}

ApplicationContainer
CollectiveHelper::Install(FabricHelper& fabric,
                          const std::vector<RdmaNicContainer>& buildings) const
{
    Scenario scenario;
    RdmaNicContainer nics;
    for (const RdmaNicContainer& building : buildings)
    {
        BuildingSpec spec;
        spec.name = "building" + std::to_string(scenario.cluster.buildings.size());
        spec.gpus = building.GetN();
        spec.gpusPerNode = 1; // all goes from NIC to NIC
        scenario.cluster.buildings.push_back(spec);
        nics.Add(building);
    }
    const std::set<Ptr<RdmaNic>> different(nics.begin(), nics.end());
    if (nics.GetN() < 2 || different.size() < nics.GetN() || different.count(Ptr<RdmaNic>()) > 0)
    {
        throw ConfigError("CollectiveHelper::Install",
                          std::to_string(nics.GetN()) + " NICs, of which " +
                              std::to_string(different.size()) + " are different",
                          "two or more, each of them once",
                          "");
    }
    nics.GetNodes(); // throws if one has none
    scenario.jobs.emplace_back();
    scenario.Job().collective = m_spec;
    LoweringRules rules(m_algorithm);
    rules.chunk = Bytes(m_chunk);
    const auto layout = Need<RankLayout>(LayOutCollective(scenario.cluster));

    const auto transport = CreateObject<ClusterTransport>();
    transport->SetServers(std::vector<Ptr<NvlinkDomain>>(nics.GetN()), 1);
    ConnectionAttributes attributes = fabric.GetConnectionAttributes();
    SetLabel(attributes, fabric, m_spec.op);
    transport->SetConnectionFactory([&fabric, nics, attributes](Rank from, Rank to, uint32_t) {
        return fabric.CreateConnection(nics.Get(from), nics.Get(to), attributes);
    });
    const std::string name = ToString(m_spec.op);
    transport->SetFailureCallback([name](Rank from, Rank to, const std::string& reason) {
        throw RunError(name + ", member " + std::to_string(from) + " to " + std::to_string(to) +
                       ": " + reason);
    });
    const auto group = CreateObject<CollectiveGroup>();
    group->Set(Need<TaskGraph>(BuildCollectiveGraph(scenario, layout, rules)),
               transport,
               m_repetitions);
    if (!m_completion.IsNull())
    {
        group->TraceConnectWithoutContext("Completed", m_completion);
    }
    ApplicationContainer members;
    for (uint32_t i = 0; i < nics.GetN(); i++)
    {
        const auto member = CreateObject<CollectiveApplication>();
        member->SetMember(group, i);
        nics.GetNode(i)->AddApplication(member);
        members.Add(member);
    }
    return members;
}

int64_t
CollectiveHelper::AssignStreams(const ApplicationContainer& /* members */, int64_t /* stream */)
{
    return 0;
}

} // namespace ns3
