// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/collective-error.h"

#include "core/base/text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// Of one operation, or of one kernel for tokens.
struct Row
{
    CollectiveOp op;
    TokenKernel kernel; //!< None: no tokens
    CollectiveError error;
};

/// The larger figures of the page's table of operations, which a test holds them to.
const std::vector<Row>&
Rows()
{
    static const std::vector<Row> rows = {
        {CollectiveOp::AllReduce, TokenKernel::None, {0.07, 0.30, 232, 36, true}},
        {CollectiveOp::AllReduce, TokenKernel::None, {0.16, 0.75, 292, 16, false}},
        {CollectiveOp::AllGather, TokenKernel::None, {0.06, 0.23, 78, 10, true}},
        {CollectiveOp::AllGather, TokenKernel::None, {0.22, 0.41, 65, 6, false}},
        {CollectiveOp::ReduceScatter, TokenKernel::None, {0.05, 0.18, 41, 5, true}},
        {CollectiveOp::ReduceScatter, TokenKernel::None, {0.42, 0.56, 4, 1, false}},
        {CollectiveOp::AllToAll, TokenKernel::None, {0.04, 0.32, 76, 15, true}},
        {CollectiveOp::AllToAll, TokenKernel::None, {0.05, 0.37, 53, 4, false}},
        {CollectiveOp::SendReceive, TokenKernel::None, {0.24, 0.30, 30, 3, true}},
        {CollectiveOp::Dispatch, TokenKernel::Throughput, {0.04, 0.17, 16, 16, true}},
        {CollectiveOp::Dispatch, TokenKernel::LowLatency, {0.14, 0.37, 16, 12, false}},
        {CollectiveOp::Combine, TokenKernel::Throughput, {0.09, 0.49, 16, 16, true}},
        {CollectiveOp::Combine, TokenKernel::LowLatency, {0.15, 0.34, 16, 12, false}},
    };
    return rows;
}

/// GPUs on which lines were measured that become runs; a test holds both to the table of lines.
const std::vector<std::string>&
PublishedGpus(bool ofTokens)
{
    static const std::vector<std::string> collectives = {"a100-40g",
                                                         "a100-80g",
                                                         "b300",
                                                         "gb200",
                                                         "gb300",
                                                         "gh200",
                                                         "h100",
                                                         "h200",
                                                         "mi300x",
                                                         "mi325x",
                                                         "mi355x"};
    static const std::vector<std::string> tokens = {"b200", "h100", "h200", "h800", "mi300x"};
    return ofTokens ? tokens : collectives;
}

/// The kernel that sends the tokens: the network's, or as without one.
TokenKernel
KernelOf(const Scenario& scenario)
{
    if (!scenario.Job().collective->Routes())
    {
        return TokenKernel::None;
    }
    return scenario.network.allToAll->kernel;
}

/// A clause, empty where what is run was published.
std::string
ReasonAgainst(const Scenario& scenario)
{
    const CollectiveSpec& spec = *scenario.Job().collective;
    const auto& buildings = scenario.cluster.buildings;
    const bool inside =
        spec.group == CollectiveGroup::Building || spec.group == CollectiveGroup::Node;
    if (buildings.size() > 1 && !inside)
    {
        return "none of them spans buildings";
    }
    if ((spec.group == CollectiveGroup::Rail || spec.group == CollectiveGroup::Across) &&
        spec.groups != 1)
    {
        return "none of them is of several groups that share links, as those of " +
               Quoted(ToString(spec.group)) + " do";
    }
    if (!spec.Routes() && !scenario.network.collective->library)
    {
        return "they are of NCCL and RCCL, and network.collective is " +
               Quoted(ToString(scenario.network.collective)) + ", not nccl";
    }
    const auto& gpus = PublishedGpus(spec.Routes());
    for (const BuildingSpec& building : buildings)
    {
        if (std::find(gpus.begin(), gpus.end(), building.gpu.name) == gpus.end())
        {
            return "none of them is on " + Quoted(building.gpu.name) + ", but on " + AllOf(gpus);
        }
    }
    return "";
}

} // namespace

std::variant<CollectiveError, std::string>
FindCollectiveError(const Scenario& scenario, Bytes bytes)
{
    if (std::string reason = ReasonAgainst(scenario); !reason.empty())
    {
        return reason;
    }
    const CollectiveSpec& spec = *scenario.Job().collective;
    const bool isLarge = bytes >= kLargeCollective;
    const TokenKernel kernel = KernelOf(scenario);
    const auto row = std::find_if(Rows().begin(), Rows().end(), [&](const Row& candidate) {
        return candidate.op == spec.op && candidate.kernel == kernel &&
               candidate.error.isLarge == isLarge;
    });
    if (row == Rows().end())
    {
        return "none of them is of " + ToString(spec.op) +
               (isLarge ? " from 16 MiB on" : " below 16 MiB");
    }
    return row->error;
}

} // namespace scaleacross
