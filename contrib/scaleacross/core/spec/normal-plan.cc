// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/normal-plan.h"

#include "core/base/errors.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <array>

namespace scaleacross
{

namespace
{

/// Why a field that Normalised() puts back changes nothing.
struct IdleReason
{
    const char* key; //!< or what it begins with
    std::string (*why)(const Plan& plan);
};

std::string
OfSchedule(const Plan& plan)
{
    return "plan.schedule is " + plan.parallel.schedule.Name();
}

std::string
OfBalance(const Plan& /* plan */)
{
    return "no message that has it goes by segments: balance is split, or a tier has its own";
}

const std::array<IdleReason, 10> g_reasons = {{
    {"plan.chunks", OfSchedule},
    {"plan.round", OfSchedule},
    {"plan.in_flight", OfSchedule},
    {"plan.recompute_layers",
     [](const Plan& plan) { return "plan.recompute is " + ToString(plan.parallel.recompute); }},
    {"plan.reshard",
     [](const Plan& plan) { return "plan.sharding is " + plan.parallel.sharding.Name(); }},
    {"plan.prefetch", [](const Plan&) { return std::string("plan.reshard is false"); }},
    {"plan.async_tp", [](const Plan&) { return std::string("plan.tp is 1"); }},
    {"network.qp_burst",
     [](const Plan& plan) { return "network.qp_scheduler is " + plan.network.qpScheduler.Name(); }},
    {"network.segment", OfBalance},
    {"network.tiers.", OfBalance}, // of a tier it is the segment, too
}};

/// Segments are those of messages that are not split into a part for each queue pair.
void
DropIdleSegments(NetworkPlan& network)
{
    bool counts = false;
    for (QueuePairOverride& tier : network.tiers)
    {
        if (tier.balance.value_or(network.balance)->splits)
        {
            tier.segment.reset();
        }
        else
        {
            counts = counts || !tier.segment;
        }
    }
    if (!counts)
    {
        network.segment = NetworkPlan().segment;
    }
}

} // namespace

Plan
Normalised(Plan plan)
{
    static const ParallelPlan usual;
    ParallelPlan& p = plan.parallel;
    const ScheduleFacts& facts = p.schedule->Facts();
    if (facts.chunks.least == facts.chunks.most)
    {
        p.chunks = facts.chunks.least;
    }
    if (!facts.inRounds)
    {
        p.round = usual.round;
    }
    if (!facts.limitsHeld)
    {
        p.inFlight = usual.inFlight;
    }
    if (!p.recompute->layers)
    {
        p.recomputeLayers = usual.recomputeLayers;
    }
    // Only the two that shard weights may give them up, and only then they are prefetched.
    p.reshard = p.Reshards();
    if (!p.reshard)
    {
        p.prefetch = usual.prefetch;
    }
    if (p.tp == 1)
    {
        p.asyncTensor = false;
    }
    DropIdleSegments(plan.network);
    if (!plan.network.qpScheduler->bursts)
    {
        plan.network.qpBurst = NetworkPlan().qpBurst;
    }
    return plan;
}

std::vector<IdleField>
IdleFields(const Plan& plan)
{
    const Plan normal = Normalised(plan);
    std::vector<IdleField> idle;
    for (const PlanField& field : PlanFields())
    {
        if (field.usual(plan) || field.equal(plan, normal))
        {
            continue;
        }
        const auto reason =
            std::find_if(g_reasons.begin(), g_reasons.end(), [&field](const IdleReason& one) {
                return field.key.rfind(one.key, 0) == 0;
            });
        SCALEACROSS_INVARIANT(reason != g_reasons.end(), field.key);
        idle.push_back({field.key, reason->why(plan)});
    }
    return idle;
}

} // namespace scaleacross
