// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines.h"

#include "core/base/text.h"
#include "core/explore/search-space.h"
#include "core/schedule/memory.h"
#include "core/schedule/task-graph-builder.h"
#include "core/topology/rank-layout.h"

#include <algorithm>
#include <numeric>

namespace scaleacross
{

namespace
{

std::vector<uint32_t>
Divisors(uint32_t n)
{
    std::vector<uint32_t> divisors;
    for (uint32_t d = 1; d <= n / d; d++)
    {
        if (n % d == 0)
        {
            divisors.push_back(d);
            if (d != n / d)
            {
                divisors.push_back(n / d);
            }
        }
    }
    std::sort(divisors.begin(), divisors.end());
    return divisors;
}

/// What a rule tries plans on: it remembers the last refusal, which is why the rule found none.
class Trial
{
  public:
    Trial(const Study& study, const FitCheck& fits)
        : m_scenario(study.scenario),
          m_fits(fits)
    {
    }

    bool Fits(const Plan& plan)
    {
        m_scenario.Job().plan = plan.parallel;
        m_scenario.network = plan.network;
        auto refusal = m_fits(m_scenario);
        if (refusal)
        {
            m_last = Infeasible{refusal->reason, Label(plan) + ": " + refusal->detail};
        }
        return !refusal;
    }

    const ModelSpec& Model() const
    {
        return m_scenario.Job().model;
    }

    /// GPUs of the smallest server and pod: what every group of that size finds room in.
    uint32_t NodeGpus() const
    {
        uint32_t gpus = 0;
        for (const auto& building : m_scenario.cluster.buildings)
        {
            gpus = std::gcd(gpus, building.gpusPerNode);
        }
        return gpus;
    }

    uint32_t PodGpus() const
    {
        uint32_t gpus = 0;
        for (const auto& building : m_scenario.cluster.buildings)
        {
            const uint32_t pod = building.fabric.nodesPerPod * building.gpusPerNode;
            const uint32_t own = pod == 0 ? building.gpus : pod;
            gpus = gpus == 0 ? own : std::min(gpus, own);
        }
        return gpus;
    }

    Infeasible None(const std::string& rule) const
    {
        if (m_last.reason.empty())
        {
            return {"degrees", rule + " finds no degrees that multiply to the GPUs"};
        }
        return {m_last.reason,
                rule + " finds no plan that can run; the last it tried: " + m_last.detail};
    }

  private:
    Scenario m_scenario;
    const FitCheck& m_fits;
    Infeasible m_last;
};

/// Tensor parallel degrees that a server and the heads allow, ascending.
std::vector<uint32_t>
TensorDegrees(const Trial& trial)
{
    const ModelSpec& model = trial.Model();
    return Divisors(std::gcd(trial.NodeGpus(), std::gcd(model.heads, model.kvHeads)));
}

/// The fields that both rules share: everything but network and cp at its default.
Plan
StartFrom(const Study& study)
{
    Plan plan;
    plan.network = study.scenario.network;
    plan.parallel.cp = study.scenario.Job().plan.cp;
    return plan;
}

/// Pipeline degrees over `ranks` ranks, ascending.
std::vector<uint32_t>
PipelineDegrees(const Trial& trial, uint32_t ranks, uint32_t least)
{
    std::vector<uint32_t> degrees;
    for (const uint32_t pp : Divisors(ranks))
    {
        if (pp >= least && pp <= trial.Model().layers)
        {
            degrees.push_back(pp);
        }
    }
    return degrees;
}

std::variant<Plan, Infeasible>
ChooseProduction(const Study& study, const FitCheck& fits)
{
    Trial trial(study, fits);
    const uint32_t gpus = study.scenario.cluster.Gpus();
    Plan plan = StartFrom(study);
    plan.network.multipath = Multipath::EEcmp;
    plan.network.qps = 16;
    plan.network.collective = CollectiveAlgorithm::Hierarchical;
    ParallelPlan& p = plan.parallel;
    p.crossing = Crossing::Data;
    p.sharding = Sharding::Hsdp;
    p.schedule = "dorapp";
    p.tp = TensorDegrees(trial).back();
    const uint32_t inner = p.tp * p.cp;
    if (gpus % inner != 0)
    {
        return trial.None("production");
    }
    const uint32_t experts = trial.Model().experts;
    for (const Recompute recompute : {Recompute::None, Recompute::Selective, Recompute::Full})
    {
        p.recompute = recompute;
        for (const uint32_t pp : PipelineDegrees(trial, gpus / inner, 2))
        {
            p.pp = pp;
            p.dp = gpus / inner / pp;
            p.ep = 1;
            for (const uint32_t ep : Divisors(std::max(experts, 1U)))
            {
                p.ep = p.dp % ep == 0 && inner * ep <= trial.PodGpus() ? ep : p.ep;
            }
            for (p.chunks = trial.Model().layers / pp; p.chunks >= 2; p.chunks--)
            {
                if (trial.Fits(plan))
                {
                    return plan;
                }
            }
        }
    }
    return trial.None("production");
}

/// Tensor and expert degrees inside a server, by product, then by tensor degree.
std::vector<std::pair<uint32_t, uint32_t>>
ServerDegrees(const Trial& trial)
{
    std::vector<std::pair<uint32_t, uint32_t>> degrees;
    for (const uint32_t tp : TensorDegrees(trial))
    {
        for (const uint32_t ep : Divisors(std::max(trial.Model().experts, 1U)))
        {
            if (tp * ep <= trial.NodeGpus())
            {
                degrees.emplace_back(tp, ep);
            }
        }
    }
    std::sort(degrees.begin(), degrees.end(), [](const auto& a, const auto& b) {
        const uint32_t x = a.first * a.second;
        const uint32_t y = b.first * b.second;
        return x != y ? x < y : a.first < b.first;
    });
    return degrees;
}

/// Chunk counts of an interleaved schedule that split the layers evenly, most first.
std::vector<uint32_t>
EvenChunks(uint32_t layers, uint32_t pp)
{
    std::vector<uint32_t> chunks;
    for (uint32_t v = layers / pp; v >= 2; v--)
    {
        if (layers % (pp * v) == 0 || (layers + 2) % (pp * v) == 0)
        {
            chunks.push_back(v);
        }
    }
    return chunks;
}

/// One pass of the megatron rule over all degrees.
struct MegatronPass
{
    bool interleave;
    std::vector<Recompute> recomputes;
};

/// Chunks, recomputation and crossing for given degrees; whether any of them fits.
bool
CompleteMegatron(Trial& trial, const MegatronPass& pass, Plan& plan)
{
    ParallelPlan& p = plan.parallel;
    const bool interleave = pass.interleave && p.pp > 1;
    p.schedule = interleave ? "interleaved" : "1f1b";
    for (const Recompute recompute : pass.recomputes)
    {
        p.recompute = recompute;
        for (const uint32_t v :
             interleave ? EvenChunks(trial.Model().layers, p.pp) : std::vector<uint32_t>{1})
        {
            p.chunks = v;
            for (const Crossing& crossing : {Crossing::Pipeline, Crossing::Data})
            {
                p.crossing = crossing;
                if (trial.Fits(plan))
                {
                    return true;
                }
            }
        }
    }
    return false;
}

std::variant<Plan, Infeasible>
ChooseMegatron(const Study& study, const FitCheck& fits)
{
    Trial trial(study, fits);
    const uint32_t gpus = study.scenario.cluster.Gpus();
    Plan plan = StartFrom(study);
    plan.network.collective = CollectiveAlgorithm::Ring;
    ParallelPlan& p = plan.parallel;
    p.sharding = Sharding::Fsdp;
    const auto degrees = ServerDegrees(trial);
    const uint32_t fullest = degrees.back().first * degrees.back().second;
    const std::vector<Recompute> little = {Recompute::None, Recompute::Selective};
    const std::vector<Recompute> full = {Recompute::Full};
    for (const MegatronPass& pass :
         {MegatronPass{true, little}, {true, full}, {false, little}, {false, full}})
    {
        for (const uint32_t pp : PipelineDegrees(trial, gpus, 1))
        {
            for (const auto& [tp, ep] : degrees)
            {
                const uint64_t inner = uint64_t{tp} * p.cp * pp;
                if (gpus % inner != 0 || gpus / inner % ep != 0 || (pp > 1 && tp * ep != fullest))
                {
                    continue;
                }
                p.tp = tp;
                p.ep = ep;
                p.pp = pp;
                p.dp = static_cast<uint32_t>(gpus / inner);
                if (CompleteMegatron(trial, pass, plan))
                {
                    return plan;
                }
            }
        }
    }
    return trial.None("megatron");
}

} // namespace

const std::vector<Baseline>&
Baselines()
{
    static const std::vector<Baseline> baselines = {
        {"production",
         "DP-out, HSDP, dorapp (reconstructed), hierarchical, E-ECMP with 16 QPs; tp fills the "
         "server, "
         "ep the pod; least recomputation, then least pp, then most chunks that fit",
         ChooseProduction},
        {"megatron",
         "as little model parallelism as fits, tp and ep inside the server, then pp; distributed "
         "optimizer (fsdp, no reshard), interleaved, ring, microbatch 1; PP-out where it can be "
         "laid "
         "out, else DP-out",
         ChooseMegatron},
    };
    return baselines;
}

const Baseline&
FindBaseline(const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& baseline : Baselines())
    {
        if (baseline.name == name)
        {
            return baseline;
        }
        names.push_back(baseline.name);
    }
    const std::string nearest = Nearest(name, names);
    throw ConfigError("baselines",
                      Quoted(name) + " is not known",
                      AnyOf(names),
                      nearest.empty() ? "" : "did you mean " + nearest + "?");
}

} // namespace scaleacross
