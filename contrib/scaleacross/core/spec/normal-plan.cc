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
    const char* key;
    std::string (*why)(const ParallelPlan& plan);
};

std::string
OfSchedule(const ParallelPlan& plan)
{
    return "plan.schedule is " + plan.schedule.Name();
}

const std::array<IdleReason, 7> g_reasons = {{
    {"plan.chunks", OfSchedule},
    {"plan.round", OfSchedule},
    {"plan.in_flight", OfSchedule},
    {"plan.recompute_layers",
     [](const ParallelPlan& plan) { return "plan.recompute is " + ToString(plan.recompute); }},
    {"plan.reshard",
     [](const ParallelPlan& plan) { return "plan.sharding is " + plan.sharding.Name(); }},
    {"plan.prefetch", [](const ParallelPlan&) { return std::string("plan.reshard is false"); }},
    {"plan.async_tp", [](const ParallelPlan&) { return std::string("plan.tp is 1"); }},
}};

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
                return field.key == one.key;
            });
        SCALEACROSS_INVARIANT(reason != g_reasons.end(), field.key);
        idle.push_back({field.key, reason->why(plan.parallel)});
    }
    return idle;
}

} // namespace scaleacross
