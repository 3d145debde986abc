// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRACE_GRAPH_H
#define SCALEACROSS_TRACE_GRAPH_H

#include "core/base/errors.h"
#include "core/program/program.h"
#include "core/spec/collective-spec.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/lowering.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// A collective of a trace that says what is done and not how.
struct TraceCollective
{
    CollectiveOp op{CollectiveOp::AllReduce};
    CommClass comm{CommClass::Data};
    RankGroup group;
    Bytes bytes; //!< S as CollectiveSpec::bytes
};

/// A computation of a trace that says how much is computed and not how long.
struct TraceCompute
{
    uint32_t classId{0};
    uint32_t op{0}; //!< in the class's program
    Flops work;
    Bytes memory; //!< read from HBM and written to it
};

/// The servers and buildings of ranks, which the phases of a collective depend on.
struct TracePlaces
{
    uint32_t gpusPerNode{0};
    std::vector<uint32_t> buildingBegin; //!< as RankLayout::buildingBegin
};

/// What traces have the ranks do, as far as it does not depend on where they do it.
struct TraceWork
{
    TaskGraph graph; //!< classes without CollectiveShare
    /// By collective of the graph: what is to be written as phases; none: the graph has its phases.
    std::vector<std::optional<TraceCollective>> collectives;
    std::vector<TraceCompute> computes;
    ParallelPlan plan;                 //!< tp x cp x pp x dp is the number of ranks
    std::optional<TracePlaces> places; //!< that phases in the graph were written for
    std::vector<std::string> warnings; //!< what to know of the traces, a line each
};

/// What to know of a job that replays traces on a scenario's network: what traces say, and what of
/// the study has no effect on them.
std::vector<std::string> TraceWarnings(const Scenario& scenario);

/**
 * The ranks of a job that replays traces: rank r on GPU r.
 *
 * Infeasible as LayOut() of the trace's plan, "ranks" where the cluster has more GPUs or fewer than
 * there are traces, "places" where collectives of the trace are phases written for other servers or
 * buildings.
 */
std::variant<RankLayout, Infeasible> LayOutTrace(const Scenario& scenario);

/// The work of such a job: collectives become phases by the rules, computations last as long as the
/// GPU of their class needs at its BF16 peak, or at the bandwidth of its HBM if that is longer.
/// Domain: the layout is LayOutTrace()'s.
TaskGraph BuildTraceGraph(const Scenario& scenario,
                          const RankLayout& layout,
                          const LoweringRules& rules);

} // namespace scaleacross

#endif // SCALEACROSS_TRACE_GRAPH_H
