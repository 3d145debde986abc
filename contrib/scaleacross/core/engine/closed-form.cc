// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/closed-form.h"

#include "core/engine/class-costs.h"
#include "core/engine/resource-report.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace scaleacross
{

namespace
{

/// What no engine can avoid of a collective, in seconds: payload over port rates.
struct Alone
{
    double least{0};
    double nic{0}; //!< of it, over the NIC
};

/// What no engine can avoid of a body, in seconds.
struct BodyTime
{
    double least{0};
    double nic{0}; //!< payload of its collectives over the NIC
};

/// Sums over one iteration of a class, in seconds, each the least that it can be.
struct ClassSums
{
    double busy{0};
    std::array<double, kActions> byAction{};
    std::map<uint16_t, double> firstForward;  //!< by chunk
    std::map<uint16_t, double> leastBackward; //!< least backward or input gradient, by chunk
    double nic{0};                            //!< payload of one rank over its NIC
};

class Summation
{
  public:
    Summation(const Scenario& scenario,
              const PreparedRun& run,
              std::shared_ptr<const NetworkFacts> facts)
        : m_scenario(scenario),
          m_run(run),
          m_network(scenario, run.layout, std::move(facts)),
          m_times(TimesOf(m_network)),
          m_costs(run.graph, m_times)
    {
    }

    ClassSums Of(uint32_t classId)
    {
        m_classId = classId;
        m_class = &m_run.graph.classes[classId];
        m_bodies.clear();
        m_alone.clear();
        m_sums = ClassSums();
        for (const Op& op : m_class->program.ops)
        {
            if (op.kind == OpKind::Run)
            {
                AddRun(op);
            }
            else if (op.kind == OpKind::Compute)
            {
                m_sums.busy += op.duration.S();
                m_sums.byAction[static_cast<size_t>(Action::Optimizer)] += op.duration.S();
            }
            else if (op.kind == OpKind::Send)
            {
                AddSend(op);
            }
            else if (op.kind == OpKind::Collective)
            {
                m_sums.nic += AloneOf(op.index).nic;
            }
        }
        return m_sums;
    }

    /// The fullest cut's bytes over its capacity.
    double CutBound()
    {
        return scaleacross::CutBound(ResourceUse(m_run.graph, m_costs), m_network, m_run.graph);
    }

  private:
    void AddRun(const Op& op)
    {
        const BodyTime& time = TimeOf(op.index);
        m_sums.nic += time.nic;
        m_sums.busy += time.least;
        m_sums.byAction[static_cast<size_t>(op.action)] += time.least;
        if (op.action == Action::Forward)
        {
            m_sums.firstForward.emplace(op.chunk, time.least);
        }
        else if (op.action == Action::Backward || op.action == Action::InputGradient)
        {
            const auto [entry, added] = m_sums.leastBackward.emplace(op.chunk, time.least);
            entry->second = std::min(entry->second, time.least);
        }
    }

    void AddSend(const Op& op)
    {
        if (m_costs.OfMessage(m_classId, op.peer, op.bytes).On(Port::NicOut) > 0)
        {
            m_sums.nic += static_cast<double>(op.bytes.Count()) * 8.0 / NicRate();
        }
    }

    const Alone& AloneOf(uint32_t collective)
    {
        const auto known = m_alone.find(collective);
        if (known != m_alone.end())
        {
            return known->second;
        }
        Alone alone;
        const std::vector<Phase>& phases = m_run.graph.collectives[collective].phases;
        const uint32_t chunks = m_run.graph.collectives[collective].chunks;
        double nvlink = 0;
        for (uint32_t p = 0; p < phases.size(); p++)
        {
            const Phase& phase = phases[p];
            const TransferCost& cost = m_costs.OfPhase(m_classId, collective, p);
            if (cost.On(Port::NicOut) == 0)
            {
                nvlink += cost.On(Port::NvlinkOut) * chunks;
                continue;
            }
            if (phase.pattern == Pattern::DirectAllToAll)
            {
                // Members on the same server are reached by NVLink, whatever their number.
                continue;
            }
            // No member sends less than all of them on average, or another sends more.
            const double sent = static_cast<double>(TimesSent(phase)) / phase.group.Size();
            const double payload = static_cast<double>(phase.bytes.Count()) * sent;
            alone.nic += payload * 8.0 / NicRate();
        }
        // Chunks are on NVLink and NIC at the same time.
        alone.least = chunks > 1 ? std::max(nvlink, alone.nic) : nvlink + alone.nic;
        return m_alone[collective] = alone;
    }

    /// A collective of a layer; others are no body's own.
    LoneCollective LoneOf(const Op& op)
    {
        LoneCollective lone;
        lone.comm = m_run.graph.collectives[op.index].comm;
        // Down, so that a bound stays one.
        lone.time = Duration::Picoseconds(
            IsOfLayer(op.stream) ? static_cast<int64_t>(AloneOf(op.index).least * 1e12) : 0);
        return lone;
    }

    const BodyTime& TimeOf(uint32_t body)
    {
        const auto known = m_bodies.find(body);
        if (known != m_bodies.end())
        {
            return known->second;
        }
        BodyTime time;
        const std::vector<Op>& ops = m_run.graph.bodies[body].ops;
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Collective)
            {
                time.nic += AloneOf(op.index).nic;
            }
        }
        // Everything that happens later for whatever reason only makes it longer: neither what
        // collectives take from computing nor contention is in it.
        time.least = WalkBody(ops, 0, [this](const Op& op) { return LoneOf(op); }).total.S();
        return m_bodies[body] = time;
    }

    double NicRate() const
    {
        const uint32_t building = m_run.layout.BuildingOf(m_class->representative);
        return m_scenario.cluster.buildings[building].gpu.nicRate.Value();
    }

    const Scenario& m_scenario;
    const PreparedRun& m_run;
    const NetworkModel m_network;
    const TransferTimes m_times;
    ClassCosts m_costs;
    uint32_t m_classId{0};
    const RankClass* m_class{nullptr};
    std::map<uint32_t, BodyTime> m_bodies;
    std::map<uint32_t, Alone> m_alone;
    ClassSums m_sums;
};

double
At(const std::array<double, kActions>& sums, Action action)
{
    return sums[static_cast<size_t>(action)];
}

/// The least time of a chunk's passes, 0 if all of them are overlapped with others.
double
LeastPass(const std::map<uint16_t, double>& byChunk, uint32_t chunk)
{
    const auto entry = byChunk.find(static_cast<uint16_t>(chunk));
    return entry == byChunk.end() ? 0.0 : entry->second;
}

/// For every rank: the first microbatch forward through the first chunks of the ranks before, all
/// its own forwards and input gradients, the last of which is of its first chunk, and the gradient
/// back through the first chunks of the ranks before. Every placement begins with these.
double
LongestPath(const std::vector<ClassSums>& stages)
{
    double longest = 0;
    double before = 0; // of the positions of the first chunk before a rank's
    for (uint32_t r = 0; r < stages.size(); r++)
    {
        const ClassSums& stage = stages[r];
        const double work =
            At(stage.byAction, Action::Forward) + At(stage.byAction, Action::Backward) +
            At(stage.byAction, Action::InputGradient) + At(stage.byAction, Action::ForwardBackward);
        longest = std::max(longest, before + work);
        before += LeastPass(stage.firstForward, 0) + LeastPass(stage.leastBackward, 0);
    }
    return longest + At(stages.front().byAction, Action::Optimizer);
}

} // namespace

ClosedForm
ClosedFormOf(const Scenario& scenario,
             const PreparedRun& run,
             std::shared_ptr<const NetworkFacts> facts)
{
    Summation summation(scenario, run, std::move(facts));
    std::vector<ClassSums> stages;
    ClosedForm result;
    result.crossBuildingBytes = CrossBuildingBytes(run);
    double bound = summation.CutBound();
    for (uint32_t c = 0; c < run.graph.classes.size(); c++)
    {
        const ClassSums sums = summation.Of(c);
        bound = std::max({bound, sums.busy, sums.nic});
        if (run.graph.classes[c].stage == stages.size())
        {
            stages.push_back(sums);
        }
    }
    result.bound = Duration::Seconds(std::max(bound, LongestPath(stages)));
    for (const MemoryUse& use : run.memory)
    {
        result.memoryMax = std::max(result.memoryMax, use.Total());
    }
    return result;
}

ClosedForm
ClosedFormOf(const Scenario& scenario, const PreparedRun& run)
{
    return ClosedFormOf(scenario, run, std::make_shared<const NetworkFacts>(scenario));
}

std::variant<ClosedForm, Infeasible>
ClosedFormFilter::operator()(const Scenario& scenario) const
{
    const auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    return ClosedFormOf(scenario, std::get<PreparedRun>(prepared), m_facts->Of(scenario));
}

} // namespace scaleacross
