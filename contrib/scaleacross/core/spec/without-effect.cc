// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/without-effect.h"

#include "core/spec/normal-plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace scaleacross
{

namespace
{

std::string
ChangesNothing(const std::string& key, const std::string& why)
{
    return key + " changes nothing: " + why;
}

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

using Modules = std::vector<std::pair<bool RecomputedParts::*, const char*>>;

/// Modules of recomputation that this model does not have, and why.
Modules
LackedModules(const ModelSpec& model)
{
    Modules lacked;
    if (!model.IsLatent())
    {
        lacked.emplace_back(&RecomputedParts::upProjections, "the model has no latent attention");
    }
    if (!HasDenseLayers(model))
    {
        lacked.emplace_back(&RecomputedParts::denseMlp, "no layer has a dense MLP");
    }
    if (!model.IsMoe())
    {
        lacked.emplace_back(&RecomputedParts::experts, "the model has no experts");
    }
    if (!model.IsMoe() || model.sharedFfn == 0)
    {
        lacked.emplace_back(&RecomputedParts::sharedExperts, "the model has no shared experts");
    }
    return lacked;
}

/// Modules of what is done again as a whole anyway.
Modules
CoveredModules(const ModelSpec& model, const Recompute& recompute)
{
    bool whole = true; // the MLP of every layer
    for (uint32_t layer = 0; layer < model.LayersInTraining(); layer++)
    {
        whole = whole && recompute->WholeMlp(model.IsMoeLayer(layer));
    }
    Modules covered;
    if (whole)
    {
        covered.emplace_back(&RecomputedParts::activations,
                             "the MLP of every layer is done again as a whole");
    }
    if (recompute->experts && model.IsMoe() && model.sharedFfn > 0)
    {
        covered.emplace_back(&RecomputedParts::sharedExperts, "moe does them again, too");
    }
    return covered;
}

/// Modules that change nothing beside the others, and why, each once.
Modules
IdleModules(const ModelSpec& model, const Recompute& recompute)
{
    Modules idle = LackedModules(model);
    const Modules covered = CoveredModules(model, recompute);
    idle.insert(idle.end(), covered.begin(), covered.end());
    return idle;
}

} // namespace

Recompute
WithoutIdleModules(const ModelSpec& model, const Recompute& recompute)
{
    const RecomputedParts& parts = *recompute;
    if (!parts.upProjections && !parts.denseMlp && !parts.experts && !parts.sharedExperts &&
        !parts.activations)
    {
        return recompute; // none that could be idle, as in most plans of a search
    }
    Recompute effective = recompute;
    for (const auto& [module, why] : IdleModules(model, recompute))
    {
        effective = effective.Without(module);
    }
    return effective;
}

namespace
{

bool
RunsRccl(const ClusterSpec& cluster)
{
    return std::any_of(
        cluster.buildings.begin(),
        cluster.buildings.end(),
        [](const BuildingSpec& building) { return building.gpu.architecture->rccl; });
}

} // namespace

bool
IsWordOfNccl(const PlanField& field)
{
    return field.key.rfind("network.nccl_", 0) == 0;
}

namespace
{

/// What a plan says, and what a search may have it say of the network instead. (What a study leaves
/// to a complete search it has not thought of: collectives, all-to-alls, and the rest of the plan.)
class PlanChoices
{
  public:
    PlanChoices(Plan plan, const std::vector<SearchAxis>& search)
        : m_plan(std::move(plan)),
          m_search(search)
    {
    }

    const Plan& Given() const
    {
        return m_plan;
    }

    /// Whether something holds of the plan, or once the search has chosen the field of this key.
    template <class Holds>
    bool May(const std::string& key, Holds holds) const
    {
        return holds(m_plan) ||
               Chosen([&key](const std::string& other) { return other == key; }, holds);
    }

    /// The same of any one field.
    template <class Holds>
    bool May(Holds holds) const
    {
        return holds(m_plan) || Chosen([](const std::string&) { return true; }, holds);
    }

  private:
    template <class IsKey, class Holds>
    bool Chosen(IsKey isKey, Holds holds) const
    {
        for (const SearchAxis& axis : m_search)
        {
            const bool counts = axis.key.rfind("network.", 0) == 0 && isKey(axis.key);
            for (size_t i = 0; counts && i < axis.values.size(); i++)
            {
                Plan plan = m_plan;
                FindPlanField(axis.key)->set(plan, axis.values[i]);
                if (holds(plan))
                {
                    return true;
                }
            }
        }
        return false;
    }

    Plan m_plan;
    const std::vector<SearchAxis>& m_search;
};

/// What is said of NCCL's words and changes nothing.
std::vector<std::string>
WarningsOfNcclWords(const Scenario& scenario)
{
    std::vector<std::string> warnings;
    const auto add = [&warnings](const std::string& key, const std::string& why) {
        warnings.push_back(ChangesNothing(key, why));
    };
    if (!scenario.network.collective->library)
    {
        Plan plan;
        plan.network = scenario.network;
        for (const PlanField& field : PlanFields())
        {
            if (IsWordOfNccl(field) && !field.usual(plan))
            {
                add(field.key, "network.collective is " + scenario.network.collective->word);
            }
        }
    }
    else if (!scenario.network.ncclCollnet && !scenario.network.ncclAlgorithm->chooses &&
             IsCollnet(scenario.network.ncclAlgorithm->kind))
    {
        add("network.nccl_algorithm: " + scenario.network.ncclAlgorithm->word,
            "network.nccl_collnet is false");
    }
    else if (scenario.network.ncclCollnet && RunsRccl(scenario.cluster))
    {
        add("network.nccl_collnet", "RCCL's choice here has rings and trees only");
    }
    return warnings;
}

/// What is said of packets that overtake, and nothing looks at.
std::vector<std::string>
WarningsOfOrder(const PlanChoices& choices)
{
    const NetworkPlan& network = choices.Given().network;
    const std::string key = "network.reorder_tolerance";
    if (network.reorderTolerance == NetworkPlan().reorderTolerance)
    {
        return {};
    }
    if (!choices.May("network.recovery",
                     [](const Plan& plan) { return plan.network.recovery->selective; }))
    {
        return {ChangesNothing(key, "network.recovery is " + network.recovery.Name())};
    }
    if (!choices.May("network.multipath",
                     [](const Plan& plan) { return plan.network.multipath->MayReorder(); }))
    {
        return {ChangesNothing(key,
                               "with network.multipath " + network.multipath->word +
                                   " no packet of a queue pair overtakes another")};
    }
    return {};
}

/// What is said of how routes follow breaks, where nothing breaks in the middle of a run.
std::vector<std::string>
WarningsOfBreaks(const Scenario& scenario)
{
    const auto& events = scenario.events;
    const bool breaks = std::any_of(events.begin(), events.end(), [](const EventSpec& event) {
        return event.kind->change != EventChange::Shares && !event.IsConstant();
    });
    std::vector<std::string> warnings;
    Plan plan;
    plan.network = scenario.network;
    for (const char* key :
         {"network.detection", "network.convergence", "network.keep_at_down_port"})
    {
        if (!breaks && !FindPlanField(key)->usual(plan))
        {
            warnings.push_back(ChangesNothing(
                key,
                events.empty() ? "there are no events"
                               : "no event breaks or slows a link in the middle of a run"));
        }
    }
    return warnings;
}

/// Amounts below a packet, which goes as a whole.
std::vector<std::string>
WarningsOfSmallAmounts(const NetworkPlan& network)
{
    std::vector<std::string> warnings;
    const auto check = [&](const std::string& key, Bytes amount) {
        if (amount > Bytes() && amount < network.mtu)
        {
            warnings.push_back(key + ": " + ExactText(amount) +
                               " acts as one packet, since a packet goes as a whole; say " +
                               ExactText(network.mtu) + ", which is network.mtu, or more");
        }
    };
    check("network.window", network.window);
    for (const Tier tier : {Tier::Leaf, Tier::Zone, Tier::Building, Tier::Cross})
    {
        static const std::array<const char*, 4> words = {"leaf", "zone", "building", "cross"};
        const size_t at = static_cast<size_t>(tier) - 1;
        check(std::string("network.tiers.") + words[at] + ".window",
              network.tiers[at].window.value_or(Bytes()));
    }
    const Bytes chunk = network.collectiveChunk;
    if (chunk > Bytes() && chunk < network.mtu)
    {
        warnings.push_back("network.collective_chunk: " + ExactText(chunk) +
                           " is less than a packet, " + ExactText(network.mtu) +
                           " by network.mtu: collectives are cut into as many chunks as there may "
                           "be, or into packets that are not full; give at least a packet");
    }
    return warnings;
}

/// The fields of a plan that change nothing, whichever other field its search chooses.
std::vector<IdleField>
IdleFieldsOf(const PlanChoices& choices)
{
    std::vector<IdleField> idle;
    for (const IdleField& one : IdleFields(choices.Given()))
    {
        const PlanField& field = *FindPlanField(one.key);
        const auto counts = [&](Plan plan) {
            field.set(plan, field.get(choices.Given()));
            return field.equal(plan, Normalised(plan));
        };
        if (!choices.May(counts))
        {
            idle.push_back(one);
        }
    }
    return idle;
}

} // namespace

std::vector<std::string>
WarningsOfDroppedWords(const Plan& given, const Plan& taken, const std::vector<SearchAxis>& search)
{
    std::vector<std::string> warnings;
    const PlanChoices choices({ParallelPlan(), given.network}, search);
    for (const IdleField& idle : IdleFieldsOf(choices))
    {
        if (!FindPlanField(idle.key)->equal(given, taken))
        {
            warnings.push_back(ChangesNothing(idle.key, idle.why));
        }
    }
    return warnings;
}

std::vector<std::string>
WarningsOfNetworkWords(const Scenario& scenario, const std::vector<SearchAxis>& search)
{
    const NetworkPlan& network = scenario.network;
    const PlanChoices choices({ParallelPlan(), network}, search);
    std::vector<std::string> warnings = WarningsOfNcclWords(scenario);
    for (const IdleField& field : IdleFieldsOf(choices))
    {
        warnings.push_back(ChangesNothing(field.key, field.why));
    }
    const bool credits = choices.May("network.transport", [](const Plan& plan) {
        return plan.network.transport->credits;
    });
    if (!credits && network.laneCredits != NetworkPlan().laneCredits)
    {
        warnings.push_back(ChangesNothing("network.lane_credits",
                                          "network.transport is " + network.transport->word));
    }
    for (const auto& more :
         {WarningsOfOrder(choices), WarningsOfBreaks(scenario), WarningsOfSmallAmounts(network)})
    {
        warnings.insert(warnings.end(), more.begin(), more.end());
    }
    return warnings;
}

std::vector<std::string>
WarningsOfNoEffect(const Scenario& scenario, const std::vector<SearchAxis>& search)
{
    const JobSpec& job = scenario.Job();
    const PlanChoices choices({job.plan, scenario.network}, search);
    std::vector<std::string> warnings;
    const auto add = [&warnings](const std::string& key, const std::string& why) {
        warnings.push_back(ChangesNothing(key, why));
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
        if (job.model.clampedMlp)
        {
            add("model.clamped_mlp", why);
        }
        if (scenario.network.allToAll->oncePerServer ||
            scenario.network.allToAll->kernel != TokenKernel::None)
        {
            add("network.all_to_all: " + scenario.network.allToAll->word, why);
        }
    }
    else if (job.workload.expertImbalance != 1 && job.plan.ep == 1)
    {
        add("workload.expert_imbalance", "without plan.ep no ranks have different experts");
    }
    const SoftwareStack& stack = job.workload.stack;
    if (job.model.IsMoe() && stack.routingStall > Duration() && stack.cudaGraphs->experts)
    {
        add("workload.stack.routing_stall",
            "with cuda_graphs: " + stack.cudaGraphs->word + " nothing waits for the host");
    }
    if (job.model.IsMoe() && stack.hostPerExpert > Duration() && stack.cudaGraphs->experts)
    {
        add("workload.stack.host_per_expert",
            "with cuda_graphs: " + stack.cudaGraphs->word + " nothing waits for the host");
    }
    for (const auto& [module, why] : IdleModules(job.model, job.plan.recompute))
    {
        if (*job.plan.recompute.*module)
        {
            const auto isIt = [part = module](const auto& row) { return row.module == part; };
            add("plan.recompute: " + RecomputeWord::First(isIt).Name(), why);
        }
    }
    for (const std::string& warning : WarningsOfNetworkWords(scenario, search))
    {
        warnings.push_back(warning);
    }
    const NetworkPlan& network = scenario.network;
    const std::string way = "network.all_to_all is " + network.allToAll->word;
    if (network.tokenStart > Duration() && network.allToAll->kernel == TokenKernel::None)
    {
        add("network.token_start", way);
    }
    if (network.tokenMessage > Duration() && network.allToAll->kernel != TokenKernel::LowLatency)
    {
        add("network.token_message", way);
    }
    const bool classes = choices.May("network.classes", [](const Plan& plan) {
        return !plan.network.classes.AreOne();
    });
    if (!classes && network.classes.weights != ClassWeights())
    {
        add("network.class_weights", "all traffic is in one class, by network.classes");
    }
    for (const IdleField& field : IdleFields({job.plan, NetworkPlan()}))
    {
        add(field.key, field.why);
    }
    if (stack.receives->planned && job.plan.pp == 1)
    {
        add("workload.stack.receives: " + stack.receives->word, "plan.pp is 1");
    }
    return warnings;
}

} // namespace scaleacross
