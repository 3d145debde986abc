// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/closed-form.h"

#include "core/engine/alone-replay.h"
#include "core/engine/class-costs.h"
#include "core/engine/least-replay.h"
#include "core/engine/resource-report.h"
#include "core/program/step-pattern.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace scaleacross
{

namespace
{

/// What no engine can avoid of a collective or a body, in seconds.
struct Least
{
    bool known{false};
    double time{0}; //!< compute, and payload over port rates
    double nic{0};  //!< payload of one rank over its NIC
};

/// Sums over one iteration of a class, in seconds, each the least that it can be.
struct ClassSums
{
    double busy{0};
    double nic{0}; //!< payload of one rank over its NIC
};

class Summation : private LeastTimes
{
  public:
    Summation(const Scenario& scenario,
              const PreparedRun& run,
              std::shared_ptr<const NetworkFacts> facts)
        : m_scenario(scenario),
          m_run(run),
          m_paths(facts->paths),
          m_network(scenario, run.layout, std::move(facts)),
          m_times(TimesOf(m_network)),
          m_costs(run.graph, m_times),
          m_bodies(run.graph.classes.size() * run.graph.bodies.size()),
          m_collectives(run.graph.classes.size() * run.graph.collectives.size())
    {
    }

    ClassSums Of(uint32_t classId)
    {
        ClassSums sums;
        for (const Op& op : m_run.graph.classes[classId].program.ops)
        {
            if (op.kind == OpKind::Run)
            {
                const Least& body = LeastOfBody(classId, op.index);
                sums.busy += body.time;
                sums.nic += body.nic;
            }
            else if (op.kind == OpKind::Compute)
            {
                sums.busy += op.duration.S();
            }
            else if (op.kind == OpKind::Send && IsOverNic(classId, op.peer))
            {
                sums.nic += static_cast<double>(op.bytes.Count()) * 8.0 / NicRate(classId);
            }
            else if (op.kind == OpKind::Collective)
            {
                sums.nic += LeastOfCollective(classId, op.index).nic;
            }
        }
        return sums;
    }

    /// What must follow each other between two beginnings of an iteration of the class.
    double ChainFrom(uint32_t classId)
    {
        return LeastReplay(m_run.graph, classId, *this);
    }

    /// What follows each other with nothing in the way of anything.
    double Alone()
    {
        const auto& collectives = m_run.graph.collectives;
        if (std::any_of(collectives.begin(), collectives.end(), [](const Collective& collective) {
                return collective.chunks > 1;
            }))
        {
            Use(); // what chunks take of a cut depends on who else may be there
        }
        return AloneReplay(m_run.graph, m_costs);
    }

    /// The fullest cut's bytes over its capacity.
    double CutBound()
    {
        return scaleacross::CutBound(Use(), m_network, m_run.graph);
    }

  private:
    const ResourceUse& Use()
    {
        if (!m_use)
        {
            m_use.emplace(m_run.graph, m_costs);
        }
        return *m_use;
    }

    const Least& LeastOfCollective(uint32_t classId, uint32_t collective)
    {
        const std::vector<Collective>& collectives = m_run.graph.collectives;
        Least& least = m_collectives[classId * collectives.size() + collective];
        if (least.known)
        {
            return least;
        }
        least.known = true;
        const std::vector<Phase>& phases = collectives[collective].phases;
        const uint32_t chunks = collectives[collective].chunks;
        double scaleUp = 0;
        for (uint32_t p = 0; p < phases.size(); p++)
        {
            const Phase& phase = phases[p];
            const TransferCost& cost = m_costs.OfPhase(classId, collective, p);
            if (cost.On(Port::NicOut) == 0)
            {
                const Rank rank = m_run.graph.classes[classId].representative;
                scaleUp += cost.portBytes[static_cast<size_t>(Port::ScaleUpOut)] * 8.0 * chunks /
                           m_network.PortRate(rank, Port::ScaleUpOut).Value();
                continue;
            }
            if (RoundsOf(phase).turns > 1 || collectives[collective].streams)
            {
                // Some hops, or phases, are over NICs, the others inside servers.
                const Rank rank = m_run.graph.classes[classId].representative;
                const auto seconds = [&](Port port) {
                    return cost.portBytes[static_cast<size_t>(port)] * 8.0 * chunks /
                           m_network.PortRate(rank, port).Value();
                };
                scaleUp += seconds(Port::ScaleUpOut);
                least.nic += seconds(Port::NicOut);
                continue;
            }
            if (StepsOf(phase).IsDirect())
            {
                // Members on the same server are reached over the scale-up network, whatever their
                // number.
                continue;
            }
            // As much as all of them on average, or another sends more.
            const double sent = static_cast<double>(TimesSent(phase)) / phase.group.Size();
            const double payload = static_cast<double>(phase.bytes.Count()) * sent;
            // In a tree members send differently much: whoever sends more may have a faster NIC.
            const double rate =
                StepsOf(phase).ChainOf() == Chain::Tree ? FastestNic() : NicRate(classId);
            least.nic += payload * 8.0 / rate;
        }
        // Chunks are on scale-up network and NIC at the same time.
        least.time = chunks > 1 ? std::max(scaleUp, least.nic) : scaleUp + least.nic;
        // Of nothing, nothing begins.
        least.time += phases.empty() ? 0.0 : collectives[collective].launch.S();
        return least;
    }

    /// A collective of a layer; others are no body's own.
    LoneCollective LoneOf(uint32_t classId, const Op& op)
    {
        LoneCollective lone;
        lone.comm = m_run.graph.collectives[op.index].comm;
        // Down, so that a bound stays one.
        lone.time = Duration::Picoseconds(
            IsOfLayer(op.stream)
                ? static_cast<int64_t>(LeastOfCollective(classId, op.index).time * 1e12)
                : 0);
        return lone;
    }

    const Least& LeastOfBody(uint32_t classId, uint32_t body)
    {
        Least& least = m_bodies[classId * m_run.graph.bodies.size() + body];
        if (least.known)
        {
            return least;
        }
        least.known = true;
        const std::vector<Op>& ops = m_run.graph.bodies[body].ops;
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Collective)
            {
                least.nic += LeastOfCollective(classId, op.index).nic;
            }
        }
        // Everything that happens later for whatever reason only makes it longer: neither what
        // collectives take from computing nor contention is in it.
        least.time = WalkBody(ops, {}, [this, classId](const Op& op) {
                         return LoneOf(classId, op);
                     }).total.S();
        return least;
    }

    double OfBody(uint32_t classId, uint32_t body) override
    {
        return LeastOfBody(classId, body).time;
    }

    double OfCollective(uint32_t classId, uint32_t collective) override
    {
        return LeastOfCollective(classId, collective).time;
    }

    /// Engines may let one message overtake another, so that none waits for one.
    Message OfMessage(uint32_t classId, int32_t peer, Bytes bytes) override
    {
        const Rank from = m_run.graph.classes[classId].representative;
        const FabricPath& path = m_paths.Between(from, from + peer);
        const GpuSpec& gpu = GpuOf(from);
        const double rate = path.tier == Tier::Node
                                ? gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency
                                : gpu.nicRate.Value();
        return {0, path.least.S() + static_cast<double>(bytes.Count()) * 8.0 / rate};
    }

    bool IsOverNic(uint32_t classId, int32_t peer) const
    {
        const Rank from = m_run.graph.classes[classId].representative;
        return m_paths.Between(from, from + peer).tier != Tier::Node;
    }

    const GpuSpec& GpuOf(Rank rank) const
    {
        return m_scenario.cluster.buildings[m_run.layout.BuildingOf(rank)].gpu;
    }

    double FastestNic() const
    {
        double fastest = 0;
        for (const BuildingSpec& building : m_scenario.cluster.buildings)
        {
            fastest = std::max(fastest, building.gpu.nicRate.Value());
        }
        return fastest;
    }

    double NicRate(uint32_t classId) const
    {
        return GpuOf(m_run.graph.classes[classId].representative).nicRate.Value();
    }

    const Scenario& m_scenario;
    const PreparedRun& m_run;
    const ClusterPaths& m_paths;
    const NetworkModel m_network;
    const TransferTimes m_times;
    ClassCosts m_costs;
    std::optional<ResourceUse> m_use;
    std::vector<Least> m_bodies;      //!< by class x body
    std::vector<Least> m_collectives; //!< by class x collective
};

/// Engines round every step of a chain to a picosecond, half of one too early at most: enough where
/// steps take half a microsecond in the mean, which no message or kernel falls below.
constexpr double kRounding = 1e-6;

} // namespace

Duration
LessRounding(double bound)
{
    return std::max(Duration(),
                    Duration::Seconds(bound * (1 - kRounding)) - Duration::Picoseconds(1));
}

ClosedForm
ClosedFormOf(const Scenario& scenario,
             const PreparedRun& run,
             std::shared_ptr<const NetworkFacts> facts,
             BoundOf engine,
             const IsWorthMore& isWorthMore)
{
    Summation summation(scenario, run, std::move(facts));
    ClosedForm result;
    for (const MemoryUse& use : run.memory)
    {
        result.memoryMax = std::max(result.memoryMax, use.Total());
    }
    const auto raise = [&result](double bound) {
        result.bound = std::max(result.bound, LessRounding(bound));
    };
    // What tells most for its cost comes first.
    if (engine == BoundOf::Analytical)
    {
        raise(summation.Alone());
    }
    else
    {
        for (uint32_t c = 0; c < run.graph.classes.size(); c++)
        {
            // Through all stages and back: from later ones it is hardly more than what they do.
            raise(run.graph.classes[c].stage == 0 ? summation.ChainFrom(c) : 0.0);
        }
    }
    if (!isWorthMore(result))
    {
        return result;
    }
    result.crossBuildingBytes = CrossBuildingBytes(run);
    if (!isWorthMore(result))
    {
        return result;
    }
    for (uint32_t c = 0; c < run.graph.classes.size(); c++)
    {
        const ClassSums sums = summation.Of(c);
        raise(std::max(sums.busy, sums.nic));
    }
    if (isWorthMore(result))
    {
        raise(summation.CutBound());
    }
    return result;
}

ClosedForm
ClosedFormOf(const Scenario& scenario, const PreparedRun& run, BoundOf engine)
{
    const auto always = [](const ClosedForm&) { return true; };
    const auto facts = std::make_shared<const NetworkFacts>(scenario);
    return ClosedFormOf(scenario, run, facts, engine, always);
}

std::variant<ClosedForm, Infeasible>
ClosedFormFilter::operator()(const Scenario& scenario, const IsWorthMore& isWorthMore) const
{
    const auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    return ClosedFormOf(scenario,
                        std::get<PreparedRun>(prepared),
                        m_facts->Of(scenario),
                        m_engine,
                        isWorthMore);
}

} // namespace scaleacross
