// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/closed-form.h"

#include "core/engine/alone-replay.h"
#include "core/engine/class-costs.h"
#include "core/engine/least-costs.h"
#include "core/engine/least-replay.h"
#include "core/engine/parameter-window.h"
#include "core/engine/resource-report.h"
#include "core/work/cost/schedule-times.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace scaleacross
{

namespace
{

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
              std::shared_ptr<const NetworkFacts> facts,
              BoundOf engine)
        : m_scenario(scenario),
          m_run(run),
          m_engine(engine),
          m_paths(facts->paths),
          m_network(scenario, run.layout, std::move(facts)),
          m_times(TimesOf(m_network)),
          m_costs(run.graph, m_times),
          m_least(scenario, run.graph, m_network, m_costs)
    {
    }

    ClassSums Of(uint32_t classId)
    {
        ClassSums sums;
        for (const Op& op : m_run.graph.classes[classId].program.ops)
        {
            if (op.kind == OpKind::Run)
            {
                const LeastWork& body = m_least.OfBody(classId, op.index);
                sums.busy += m_engine == BoundOf::Analytical
                                 ? m_costs.OfBody(classId, op.index).times.total.S()
                                 : body.time;
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
                sums.nic += m_least.OfCollective(classId, op.index).nic;
            }
        }
        return sums;
    }

    /// What must follow each other between two beginnings of an iteration of the class.
    double From(uint32_t classId)
    {
        return m_engine == BoundOf::Analytical ? AloneFrom(classId)
                                               : LeastReplay(m_run.graph, classId, *this);
    }

    /// The fullest cut's bytes over its capacity.
    double CutBound()
    {
        return scaleacross::CutBound(Use(), m_network, m_run.graph);
    }

    /// That of a cut for gathers and reductions, and what is between these; not of every engine.
    double ParameterBound()
    {
        if (m_engine != BoundOf::Analytical)
        {
            return 0;
        }
        const PipelineShape shape = PipelineShapeOf(m_scenario.Job());
        AloneTimes alone(m_run.graph, m_costs);
        return ParameterWindowBound(m_run.graph, shape, m_costs, Use(), m_network, alone);
    }

  private:
    /// What follows each other with nothing in the way of anything.
    double AloneFrom(uint32_t classId)
    {
        const auto& collectives = m_run.graph.collectives;
        if (std::any_of(collectives.begin(), collectives.end(), [](const Collective& collective) {
                return collective.chunks > 1;
            }))
        {
            Use(); // what chunks take of a cut depends on who else may be there
        }
        return AloneReplay(m_run.graph, classId, m_costs);
    }

    const ResourceUse& Use()
    {
        if (!m_use)
        {
            m_use.emplace(m_run.graph, m_costs);
        }
        return *m_use;
    }

    double OfBody(uint32_t classId, uint32_t body) override
    {
        return m_least.OfBody(classId, body).time;
    }

    double OfCollective(uint32_t classId, uint32_t collective) override
    {
        return m_least.OfCollective(classId, collective).time;
    }

    /// Engines may let one message overtake another, so that none waits for one.
    Message OfMessage(uint32_t classId, int32_t peer, Bytes bytes) override
    {
        const Rank from = m_run.graph.classes[classId].representative;
        return {0, LeastMessageTime(m_paths.Between(from, from + peer), GpuOf(from), bytes)};
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

    double NicRate(uint32_t classId) const
    {
        return GpuOf(m_run.graph.classes[classId].representative).nicRate.Value();
    }

    const Scenario& m_scenario;
    const PreparedRun& m_run;
    BoundOf m_engine;
    const ClusterPaths& m_paths;
    const NetworkModel m_network;
    const TransferTimes m_times;
    ClassCosts m_costs;
    std::optional<ResourceUse> m_use;
    LeastCosts m_least;
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
    Summation summation(scenario, run, std::move(facts), engine);
    ClosedForm result;
    result.memoryMax = run.memoryMax;
    const auto raise = [&result](double bound) {
        result.bound = std::max(result.bound, LessRounding(bound));
    };
    // What tells most for its cost comes first: through all stages and back, of which one class of
    // the first stage tells nearly as much as all, then what all send. From later stages it is
    // hardly more than what the first one does.
    std::vector<uint32_t> ofFirst;
    for (uint32_t c = 0; c < run.graph.classes.size(); c++)
    {
        if (run.graph.classes[c].stage == 0)
        {
            ofFirst.push_back(c);
        }
    }
    const std::vector<std::function<void()>> steps = {
        [&] { raise(summation.From(ofFirst.front())); },
        [&] { raise(summation.CutBound()); },
        [&] { raise(summation.ParameterBound()); },
        [&] {
            for (size_t i = 1; i < ofFirst.size(); i++)
            {
                raise(summation.From(ofFirst[i]));
            }
        },
        [&] { result.crossBuildingBytes = CrossBuildingBytes(run); },
        [&] {
            for (uint32_t c = 0; c < run.graph.classes.size(); c++)
            {
                const ClassSums sums = summation.Of(c);
                raise(std::max(sums.busy, sums.nic));
            }
        }};
    for (size_t i = 0; i < steps.size() && (i == 0 || isWorthMore(result)); i++)
    {
        steps[i]();
    }
    return result;
}

ClosedForm
ClosedFormOf(const Scenario& scenario, const PreparedRun& run, BoundOf engine)
{
    const auto facts = std::make_shared<const NetworkFacts>(scenario);
    return ClosedFormOf(scenario, run, facts, engine, Always);
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
