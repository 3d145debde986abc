// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines.h"

#include "core/base/text.h"
#include "core/explore/fit-check.h"
#include "core/explore/search-space.h"

#include <algorithm>
#include <numeric>

namespace scaleacross
{

namespace
{

using Values = std::vector<std::string>;

/// The divisors of n up to `most`, ascending.
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

/// GPUs that every server has a whole number of.
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

/// Tensor parallel degrees that a server and the heads allow, ascending.
Values
TensorDegrees(const Study& study)
{
    const ModelSpec& model = study.scenario.Job().model;
    const uint32_t most = std::gcd(ServerGpus(study), std::gcd(model.heads, model.kvHeads));
    return Divisors(most, most);
}

/// Chunk counts that split the layers evenly over some number of stages, or the layers with the
/// embedding and the loss counted as two more.
Values
ChunkCounts(uint32_t layers)
{
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

/// What both schools tune; the plan is the study's network and defaults for all else.
Study
SchoolOf(const Study& study)
{
    const JobSpec& job = study.scenario.Job();
    Study school = study;
    school.scenario.Job().plan = ParallelPlan();
    school.dpGiven = false;
    school.search = {
        {"plan.cp", Divisors(ServerGpus(study), ServerGpus(study))},
        {"plan.ep", Divisors(std::max(job.model.experts, 1U), UINT32_MAX)},
        {"plan.pp", Divisors(study.scenario.cluster.Gpus(), job.model.layers)},
        {"plan.chunks", ChunkCounts(job.model.layers)},
        {"plan.microbatch", Divisors(job.workload.globalBatch, 8)},
        {"plan.recompute", {"none", "selective", "full"}},
        {"plan.async_tp", {"false", "true"}},
    };
    return school;
}

std::vector<Study>
Production(const Study& study)
{
    Study school = SchoolOf(study);
    ParallelPlan& plan = school.scenario.Job().plan;
    plan.crossing = Crossing::Data;
    plan.sharding = "hsdp";
    plan.schedule = "dorapp";
    school.scenario.network.multipath = "e-ecmp";
    school.scenario.network.qps = 16;
    school.scenario.network.collective = "hierarchical";
    school.search.push_back({"plan.tp", {TensorDegrees(study).back()}});
    return {school};
}

std::vector<Study>
Megatron(const Study& study)
{
    Study outside = SchoolOf(study);
    ParallelPlan& plan = outside.scenario.Job().plan;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = "fsdp";
    outside.scenario.network.collective = "ring";
    outside.search.push_back({"plan.tp", TensorDegrees(study)});
    outside.search.push_back({"plan.schedule", {"1f1b", "interleaved"}});
    Study inside = outside;
    inside.scenario.Job().plan.crossing = Crossing::Data;
    return {outside, inside};
}

/// Refuses plans that recompute more than they need to fit, as every school does.
Filter
LeastRecomputation(const Filter& filter)
{
    return [filter](const Scenario& scenario,
                    const IsWorthMore& isWorthMore) -> std::variant<ClosedForm, Infeasible> {
        for (const Recompute less : {Recompute("none"), Recompute("selective")})
        {
            if (scenario.Job().plan.recompute == less)
            {
                break;
            }
            Scenario other = scenario;
            other.Job().plan.recompute = less;
            if (!CheckFit(other))
            {
                return Infeasible{"recompute", "it fits with recompute=" + ToString(less)};
            }
        }
        return filter(scenario, isWorthMore);
    };
}

/// Keeps nothing: the board of the search is the answer.
class NoSink : public ResultSink
{
  public:
    Frontier Resume() override
    {
        return {};
    }

    void Restore(const std::function<bool(uint64_t, const RunReport&)>& /* visit */) override
    {
    }

    bool Knows(const Plan& /* plan */) const override
    {
        return false;
    }

    std::optional<Evaluation> Recall(uint64_t /* position */, const Plan& plan) override
    {
        SCALEACROSS_INVARIANT(false, "nothing is known: " + CanonicalText(plan));
        return std::nullopt;
    }

    void Add(uint64_t /* position */,
             const Plan& /* plan */,
             const Evaluation& /* evaluation */) override
    {
    }

    void Commit(const Frontier& /* frontier */) override
    {
    }

    void Finish(const Frontier& /* frontier */, const Leaderboard& /* board */) override
    {
    }
};

/// Memory, the last check, if any plan came so far; else the reason that most were refused for.
Infeasible
WhyNone(const std::string& name, const Frontier& counts)
{
    Infeasible why{"degrees", name + " finds no plan that can run"};
    uint64_t most = 0;
    for (const auto& [reason, count] : counts.rejected)
    {
        const uint64_t weight = reason == "memory" ? UINT64_MAX : count.count;
        if (reason != kDuplicate && weight > most)
        {
            most = weight;
            why = {reason,
                   name + " finds no plan that can run; " + std::to_string(count.count) + " of " +
                       std::to_string(counts.Distinct()) + " are refused so: " + count.example};
        }
    }
    return why;
}

} // namespace

const std::vector<Baseline>&
Baselines()
{
    static const std::vector<Baseline> baselines = {
        {"production",
         "DP-out, HSDP, dorapp (reconstructed), hierarchical collectives, E-ECMP with 16 queue "
         "pairs; tp fills the server; recomputes the least that fits",
         "pp, cp, ep, chunks, microbatch, async_tp",
         "what crosses, sharding, schedule, tp, network",
         Production},
        {"megatron",
         "distributed optimizer (FSDP without reshard), 1F1B plain or interleaved, ring "
         "collectives; tp inside the server; PP-out where it can be laid out, else DP-out; "
         "recomputes the least that fits",
         "tp, cp, ep, pp, schedule, chunks, microbatch, async_tp",
         "what crosses, sharding, network",
         Megatron},
    };
    return baselines;
}

std::variant<Plan, Infeasible>
ChooseBaseline(const Baseline& baseline,
               const Study& study,
               const Engine& engine,
               const SearchOptions& options)
{
    SearchOptions own = options;
    own.keep = 1;
    own.keeps = Leaderboard::Keeps::Best;
    own.filter = LeastRecomputation(options.filter);
    std::variant<Plan, Infeasible> chosen;
    bool first = true;
    for (const Study& school : baseline.spaces(study))
    {
        NoSink sink;
        const auto result = BestFirstSearch().Run(SearchSpace(school), engine, own, sink);
        if (result.interrupted)
        {
            throw Interrupted();
        }
        const auto best = result.board.Best();
        if (!best.empty())
        {
            return best.front().plan;
        }
        if (first)
        {
            chosen = WhyNone(baseline.name, result.counts);
        }
        first = false;
    }
    return chosen;
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
