// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/collective-error.h"

#include "core/base/text.h"
#include "core/explore/preset-origin.h"

#include <algorithm>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

struct Figures
{
    double median;
    double nineInTen;
    uint32_t lines;
    uint32_t setups;
};

struct OfGpu
{
    std::string gpu;
    Figures shipped;
};

/// Of one operation, or of one kernel for tokens.
struct Row
{
    CollectiveOp op;
    TokenKernel kernel; //!< None: no tokens
    bool isLarge;
    Figures all; //!< as shipped or without a setup's own values, the larger
    std::vector<OfGpu> gpus;
};

/// From analysis/measured_collectives.py and fit_collectives.py, whose tables a test holds them to.
const std::vector<Row>&
Rows()
{
    static const std::vector<Row> rows = {
        {CollectiveOp::AllReduce,
         TokenKernel::None,
         true,
         {0.07, 0.30, 232, 36},
         {{"a100-40g", {0.03, 0.09, 25, 4}},
          {"a100-80g", {0.14, 0.35, 19, 2}},
          {"b300", {0.00, 0.00, 1, 1}},
          {"gb200", {0.16, 0.26, 15, 4}},
          {"gb300", {0.11, 0.22, 4, 2}},
          {"gh200", {0.12, 0.59, 54, 6}},
          {"h100", {0.03, 0.15, 82, 10}},
          {"h200", {0.01, 0.04, 11, 2}},
          {"mi300x", {0.07, 0.48, 11, 1}},
          {"mi325x", {0.03, 0.05, 6, 2}},
          {"mi355x", {0.05, 0.09, 4, 2}}}},
        {CollectiveOp::AllReduce,
         TokenKernel::None,
         false,
         {0.16, 0.75, 292, 16},
         {{"a100-40g", {0.19, 0.38, 66, 3}},
          {"a100-80g", {0.20, 0.65, 30, 2}},
          {"gh200", {0.13, 0.40, 126, 6}},
          {"h100", {0.09, 0.23, 49, 4}},
          {"mi300x", {0.87, 0.88, 21, 1}}}},
        {CollectiveOp::AllGather,
         TokenKernel::None,
         true,
         {0.06, 0.23, 78, 10},
         {{"a100-40g", {0.04, 0.56, 21, 3}},
          {"h100", {0.05, 0.14, 46, 5}},
          {"h200", {0.08, 0.13, 11, 2}}}},
        {CollectiveOp::AllGather,
         TokenKernel::None,
         false,
         {0.22, 0.41, 65, 6},
         {{"a100-40g", {0.31, 0.41, 43, 3}},
          {"h100", {0.06, 0.53, 8, 2}},
          {"h200", {0.11, 0.13, 14, 1}}}},
        {CollectiveOp::ReduceScatter,
         TokenKernel::None,
         true,
         {0.05, 0.18, 41, 5},
         {{"h100", {0.05, 0.18, 40, 4}}, {"h200", {0.02, 0.02, 1, 1}}}},
        {CollectiveOp::ReduceScatter,
         TokenKernel::None,
         false,
         {0.42, 0.56, 4, 1},
         {{"h100", {0.42, 0.56, 4, 1}}}},
        {CollectiveOp::AllToAll,
         TokenKernel::None,
         true,
         {0.04, 0.32, 76, 15},
         {{"a100-40g", {0.30, 0.89, 21, 3}},
          {"b300", {0.00, 0.00, 1, 1}},
          {"gb200", {0.05, 0.08, 6, 3}},
          {"gb300", {0.36, 0.71, 4, 2}},
          {"h100", {0.02, 0.10, 40, 4}},
          {"mi355x", {0.06, 0.09, 4, 2}}}},
        {CollectiveOp::AllToAll,
         TokenKernel::None,
         false,
         {0.05, 0.37, 53, 4},
         {{"a100-40g", {0.05, 0.25, 49, 3}}, {"h100", {0.55, 0.61, 4, 1}}}},
        {CollectiveOp::SendReceive,
         TokenKernel::None,
         true,
         {0.24, 0.30, 30, 3},
         {{"h100", {0.24, 0.30, 30, 3}}}},
        {CollectiveOp::Dispatch,
         TokenKernel::Throughput,
         true,
         {0.04, 0.17, 16, 16},
         {{"b200", {0.12, 0.18, 2, 2}},
          {"h100", {0.02, 0.02, 1, 1}},
          {"h200", {0.07, 0.11, 4, 4}},
          {"h800", {0.03, 0.05, 3, 3}},
          {"mi300x", {0.02, 0.12, 6, 6}}}},
        {CollectiveOp::Dispatch,
         TokenKernel::LowLatency,
         false,
         {0.14, 0.37, 16, 12},
         {{"h100", {0.12, 0.51, 7, 3}},
          {"h200", {0.14, 0.25, 3, 3}},
          {"h800", {0.01, 0.03, 3, 3}},
          {"mi300x", {0.11, 0.13, 3, 3}}}},
        {CollectiveOp::Combine,
         TokenKernel::Throughput,
         true,
         {0.09, 0.49, 16, 16},
         {{"b200", {0.09, 0.13, 2, 2}},
          {"h100", {0.12, 0.12, 1, 1}},
          {"h200", {0.38, 0.67, 4, 4}},
          {"h800", {0.06, 0.07, 3, 3}},
          {"mi300x", {0.08, 0.32, 6, 6}}}},
        {CollectiveOp::Combine,
         TokenKernel::LowLatency,
         false,
         {0.15, 0.34, 16, 12},
         {{"h100", {0.18, 0.41, 7, 3}},
          {"h200", {0.23, 0.26, 3, 3}},
          {"h800", {0.05, 0.05, 3, 3}},
          {"mi300x", {0.10, 0.14, 3, 3}}}},
    };
    return rows;
}

/// Whether messages between servers cost what they do on some machine.
bool
IsOfMachine(const NetworkPlan& network, const std::vector<NetworkPlan>& machines)
{
    return std::any_of(machines.begin(), machines.end(), [&network](const NetworkPlan& machine) {
        return network.ncclNetStep == machine.ncclNetStep &&
               network.ncclNetLong == machine.ncclNetLong &&
               network.ncclNetFill == machine.ncclNetFill &&
               network.ncclNetFlags == machine.ncclNetFlags &&
               network.ncclNetMessage == machine.ncclNetMessage &&
               network.ncclNetInject == machine.ncclNetInject &&
               network.tokenStart == machine.tokenStart &&
               network.tokenMessage == machine.tokenMessage;
    });
}

/// A clause, empty where what is run was published, on whatever GPUs.
std::string
ReasonAgainst(const Scenario& scenario, const MeasuredPresets& presets)
{
    const CollectiveSpec& spec = *scenario.Job().collective;
    const NetworkPlan& network = scenario.network;
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
    if (!spec.Routes() && !network.collective->library)
    {
        return "they are of NCCL and RCCL, and network.collective is " +
               Quoted(ToString(network.collective)) + ", not nccl";
    }
    if (spec.op == CollectiveOp::AllToAll && !network.allToAll->follows)
    {
        return "they are of NCCL and RCCL, and network.all_to_all is " +
               Quoted(ToString(network.allToAll)) + ", not follow";
    }
    if (!IsOfMachine(network, presets.networks))
    {
        return "network.nccl_net_* and network.token_* are those of no machine that has any";
    }
    if (std::any_of(buildings.begin(), buildings.end(), [](const BuildingSpec& building) {
            return building.fabric.oversubscription > 1;
        }))
    {
        return "none of them is over an oversubscribed fabric";
    }
    return "";
}

std::vector<std::string>
GpusOf(const Row& row)
{
    std::vector<std::string> names;
    for (const OfGpu& one : row.gpus)
    {
        names.push_back(one.gpu);
    }
    return names;
}

void
Widen(CollectiveError& error, const Figures& figures)
{
    error.median = std::max(error.median, figures.median);
    error.nineInTen = std::max(error.nineInTen, figures.nineInTen);
}

} // namespace

std::variant<CollectiveError, std::string>
FindCollectiveError(const Scenario& scenario, Bytes bytes, const MeasuredPresets& presets)
{
    if (std::string reason = ReasonAgainst(scenario, presets); !reason.empty())
    {
        return reason;
    }
    const CollectiveSpec& spec = *scenario.Job().collective;
    const bool isLarge = bytes >= kLargeCollective;
    const TokenKernel kernel =
        spec.Routes() ? scenario.network.allToAll->kernel : TokenKernel::None;
    const auto row = std::find_if(Rows().begin(), Rows().end(), [&](const Row& candidate) {
        return candidate.op == spec.op && candidate.kernel == kernel &&
               candidate.isLarge == isLarge;
    });
    if (row == Rows().end())
    {
        return "none of them is of " + ToString(spec.op) +
               (spec.Routes() ? " by this kernel" : "") +
               (isLarge ? " from 16 MiB on" : " below 16 MiB");
    }
    CollectiveError error{0, 0, row->all.lines, row->all.setups, row->all.lines, row->all.setups};
    Widen(error, row->all);
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const auto names = GpusOf(*row);
        const auto origin = OriginOf(building.gpu, presets.gpus, names, MachineKeysOfGpus());
        if (!origin)
        {
            return "none of them is on " + Quoted(building.gpu.name) + ", but on " + AllOf(names);
        }
        if (origin->changed)
        {
            return "values of the GPU " + origin->preset +
                   " are changed from those that they were compared with";
        }
        const auto own = std::find_if(row->gpus.begin(), row->gpus.end(), [&](const OfGpu& one) {
            return one.gpu == origin->preset;
        });
        Widen(error, own->shipped);
        error.gpuLines = std::min(error.gpuLines, own->shipped.lines);
        error.gpuSetups = std::min(error.gpuSetups, own->shipped.setups);
    }
    return error;
}

} // namespace scaleacross
