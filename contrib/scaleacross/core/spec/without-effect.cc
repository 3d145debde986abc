// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/without-effect.h"

namespace scaleacross
{

namespace
{

/// Whether the model has layers with a dense MLP.
bool
HasDenseLayers(const ModelSpec& model)
{
    for (uint32_t layer = 0; layer < model.LayersInTraining(); layer++)
    {
        if (!model.IsMoeLayer(layer))
        {
            return true;
        }
    }
    return false;
}

} // namespace

std::vector<std::string>
WarningsOfNoEffect(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    std::vector<std::string> warnings;
    const auto add = [&warnings](const std::string& key, const std::string& why) {
        warnings.push_back(key + " changes nothing: " + why);
    };
    if (!job.model.IsMoe())
    {
        const std::string why = "the model has no experts";
        if (job.workload.expertImbalance != 1)
        {
            add("workload.expert_imbalance", why);
        }
        if (job.workload.capacityFactor != 0)
        {
            add("workload.capacity_factor", why);
        }
        if (scenario.network.allToAll->oncePerServer)
        {
            add("network.all_to_all: " + scenario.network.allToAll->word, why);
        }
    }
    else if (job.workload.expertImbalance != 1 && job.plan.ep == 1)
    {
        add("workload.expert_imbalance", "without plan.ep no ranks have different experts");
    }
    const RecomputeFacts& recompute = *job.plan.recompute;
    const bool latent = recompute.upProjections && !job.model.IsLatent();
    const bool dense = recompute.denseMlp && !HasDenseLayers(job.model);
    if ((latent || dense) && latent == recompute.upProjections && dense == recompute.denseMlp)
    {
        add("plan.recompute: " + recompute.word,
            latent ? "the model has no latent attention" : "no layer has a dense MLP");
    }
    if (job.plan.asyncTensor && job.plan.tp == 1)
    {
        add("plan.async_tp", "plan.tp is 1");
    }
    if (job.workload.stack.receives->planned && job.plan.pp == 1)
    {
        add("workload.stack.receives: " + job.workload.stack.receives->word, "plan.pp is 1");
    }
    return warnings;
}

} // namespace scaleacross
