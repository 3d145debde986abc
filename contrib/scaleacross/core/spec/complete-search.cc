// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/complete-search.h"

#include "core/spec/head-split.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace scaleacross
{

Values
Divisors(uint32_t n, uint32_t most)
{
    Values divisors;
    for (uint32_t d = 1; d <= std::min(n, most); d++)
    {
        if (n % d == 0)
        {
            divisors.push_back(std::to_string(d));
        }
    }
    return divisors;
}

Values
TensorDegrees(const Study& study, uint32_t ranks)
{
    const JobSpec& job = study.scenario.Job();
    Values degrees;
    for (const uint32_t tp : HeadSplits(job.model, job.workload.stack))
    {
        if (ranks % tp == 0)
        {
            degrees.push_back(std::to_string(tp));
        }
    }
    return degrees;
}

uint32_t
ServerGpus(const Study& study)
{
    uint32_t gpus = 0;
    for (const auto& building : study.scenario.cluster.buildings)
    {
        gpus = std::gcd(gpus, building.gpusPerNode);
    }
    return gpus;
}

Values
ExpertDegrees(const Study& study)
{
    return Divisors(std::max(study.scenario.Job().model.experts, 1U), UINT32_MAX);
}

Values
PipelineDegrees(const Study& study)
{
    return Divisors(study.scenario.cluster.Gpus(), study.scenario.Job().model.layers);
}

Values
ChunkCounts(const Study& study)
{
    const uint32_t layers = study.scenario.Job().model.layers;
    Values counts;
    for (uint32_t v = 1; v <= layers / 2; v++)
    {
        if (layers % v == 0 || (layers + 2) % v == 0)
        {
            counts.push_back(std::to_string(v));
        }
    }
    return counts.empty() ? Values{"1"} : counts;
}

Values
ShardGroups(const Study& study)
{
    Values groups = Divisors(ServerGpus(study), ServerGpus(study));
    groups.front() = "0"; // in place of 1: nothing is shared by one rank
    return groups;
}

Values
Either()
{
    return {"false", "true"};
}

namespace
{

const JobSpec&
JobOf(const Study& study)
{
    return study.scenario.Job();
}

Values
TensorDegreesOfAll(const Study& study)
{
    return TensorDegrees(study, study.scenario.cluster.Gpus());
}

/// Of the sequence, of which a rank has two parts.
Values
ContextDegrees(const Study& study)
{
    const uint32_t sequence = JobOf(study).workload.sequence;
    return Divisors(std::gcd(sequence / 2, study.scenario.cluster.Gpus()), sequence);
}

/// Experts in as many parts as tensor parallelism has, or a divisor of them.
Values
ExpertTensorDegrees(const Study& study)
{
    Values values = {"0"};
    if (JobOf(study).model.IsMoe())
    {
        const Values degrees = TensorDegreesOfAll(study);
        values.insert(values.end(), degrees.begin(), degrees.end());
    }
    return values;
}

Values
Crossings(const Study& study)
{
    Values values = {"dp"};
    if (study.scenario.cluster.buildings.size() > 1)
    {
        values.emplace_back("pp");
        if (JobOf(study).model.IsMoe())
        {
            values.emplace_back("ep");
        }
    }
    return values;
}

Values
Collectives(const Study& /* study */)
{
    Values values;
    for (const auto* row : CollectiveAlgorithm::Rows())
    {
        if (!row->library)
        {
            values.emplace_back(row->word);
        }
    }
    return values;
}

Values
AllToAlls(const Study& study)
{
    Values values;
    for (const auto* row : AllToAllAlgorithm::Rows())
    {
        if (row->kernel == TokenKernel::None && (JobOf(study).model.IsMoe() || row->follows))
        {
            values.emplace_back(row->word);
        }
    }
    return values;
}

/// All layers of a position (0), or the first of them: up to all but one of the model's.
Values
RecomputedLayers(const Study& study)
{
    Values counts;
    for (uint32_t k = 0; k < JobOf(study).model.layers; k++)
    {
        counts.push_back(std::to_string(k));
    }
    return counts;
}

using Rule = std::function<Values(const Study&)>;

const std::map<std::string, Rule>&
Rules()
{
    const auto batch = [](const Study& study) { return JobOf(study).workload.globalBatch; };
    const auto either = [](const Study& /* study */) { return Either(); };
    static const std::map<std::string, Rule> rules = {
        {"plan.tp", TensorDegreesOfAll},
        {"plan.cp", ContextDegrees},
        {"plan.ep", ExpertDegrees},
        {"plan.etp", ExpertTensorDegrees},
        {"plan.pp", PipelineDegrees},
        {"plan.crossing", Crossings},
        {"plan.microbatch", [batch](const Study& s) { return Divisors(batch(s), UINT32_MAX); }},
        {"plan.apportion", [](const Study& /* study */) { return Apportion::Names(); }},
        {"plan.schedule", [](const Study& /* study */) { return Schedule::Names(); }},
        {"plan.chunks", ChunkCounts},
        {"plan.embedding_as_layer", either},
        {"plan.loss_as_layer", either},
        {"plan.recompute", [](const Study& /* study */) { return RecomputeWord::Names(); }},
        {"plan.recompute_layers", RecomputedLayers},
        {"plan.async_tp", either},
        {"plan.sharding", [](const Study& /* study */) { return Sharding::Names(); }},
        {"plan.shard_ranks", ShardGroups},
        {"plan.reshard", either},
        {"network.collective", Collectives},
        {"network.all_to_all", AllToAlls},
    };
    return rules;
}

} // namespace

Values
CompleteValues(const Study& study, const std::string& key)
{
    const auto rule = Rules().find(key);
    return rule == Rules().end() ? Values() : rule->second(study);
}

std::vector<SearchAxis>
CompleteSearch(const Study& study, const std::vector<std::string>& fixed)
{
    std::vector<SearchAxis> axes;
    for (const PlanField& field : PlanFields())
    {
        const bool open = std::find(fixed.begin(), fixed.end(), field.key) == fixed.end();
        const Values values = open ? CompleteValues(study, field.key) : Values();
        if (values.size() > 1)
        {
            axes.push_back({field.key, values});
        }
    }
    return axes;
}

} // namespace scaleacross
