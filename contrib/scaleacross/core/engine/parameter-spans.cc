// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/parameter-spans.h"

#include "core/engine/layout-key.h"
#include "core/work/collectives/parameter-units.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

namespace scaleacross
{

namespace
{

void
Add(const std::vector<double>& more, std::vector<double>& sum)
{
    sum.resize(std::max(sum.size(), more.size()), 0.0);
    for (size_t span = 0; span < more.size(); span++)
    {
        sum[span] += more[span];
    }
}

} // namespace

ParameterSpans::ParameterSpans(const LeastUnits& units)
    : m_units(units)
{
}

ParameterSpans::Sums
ParameterSpans::Find(const Scenario& scenario,
                     const RankLayout& layout,
                     const std::vector<StageLayers>& split) const
{
    const JobSpec& job = scenario.Job();
    const ParallelPlan& plan = job.plan;
    const bool everyMicrobatch = plan.ReductionOf()->everyMicrobatch;
    const size_t there = std::max(1U, plan.prefetch);
    Sums sums;
    for (const StageLayers& stage : split)
    {
        const std::vector<ParameterUnit> units = UnitsOf(job, stage);
        const bool beginsUnused = stage.embedding && units.front().pieces == 1; // backward
        for (size_t u = 0; u < units.size(); u++)
        {
            const UnitSpans& spans = m_units.SpansOf(scenario, layout, layout.FirstOf(0), units[u]);
            Add(spans.reduce, sums.once);
            if (everyMicrobatch)
            {
                Add(plan.sharding->optimizer ? spans.scatter : spans.reduce, sums.again);
            }
            if (!plan.Reshards())
            {
                Add(spans.gather, sums.once);
                Add(spans.gather, sums.gathered);
                continue;
            }
            const bool forward = u >= there;
            const bool backward = u + there < units.size() && !(u == 0 && beginsUnused);
            for (const bool gathers : {forward, backward})
            {
                if (gathers)
                {
                    Add(spans.gather, sums.once);
                    Add(spans.gather, sums.again);
                    Add(spans.gather, sums.gathered);
                }
            }
        }
    }
    sums.again.resize(sums.once.size(), 0.0);
    sums.gathered.resize(sums.once.size(), 0.0);
    return sums;
}

const ParameterSpans::Sums&
ParameterSpans::Known(const Scenario& scenario,
                      const RankLayout& layout,
                      const std::vector<StageLayers>& split) const
{
    const ParallelPlan& plan = layout.plan;
    Key key = LayoutKey(plan);
    key.insert(key.end(),
               {plan.sharding->optimizer,
                plan.sharding->insideBuildings,
                plan.shardRanks,
                plan.Reshards(),
                plan.prefetch,
                plan.ReductionOf()->everyMicrobatch,
                plan.bucket.Count()});
    for (const StageLayers& stage : split)
    {
        key.push_back(stage.count);
    }
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_known.find(key);
        if (known != m_known.end())
        {
            return known->second;
        }
    }
    Sums found = Find(scenario, layout, split);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_known.try_emplace(std::move(key), std::move(found)).first->second;
}

std::vector<ParameterSpan>
ParameterSpans::Of(const Scenario& scenario,
                   const RankLayout& layout,
                   const std::vector<StageLayers>& split,
                   uint32_t microbatches) const
{
    const Sums& sums = Known(scenario, layout, split);
    std::vector<ParameterSpan> spans(sums.once.size());
    for (size_t span = 0; span < spans.size(); span++)
    {
        spans[span].seconds = sums.once[span] + (microbatches - 1) * sums.again[span];
        spans[span].gathers = sums.gathered[span] > 0;
    }
    return spans;
}

} // namespace scaleacross
