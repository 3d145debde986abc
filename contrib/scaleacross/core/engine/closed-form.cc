// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/closed-form.h"

#include "core/engine/class-costs.h"
#include "core/engine/collective-time.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/schedule/task-graph-builder.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// A collective with the network to itself.
struct Alone
{
    double seconds{0};
    double least{0}; //!< payload over port rate only
    double nic{0};   //!< of it, over the NIC
};

/// Time in a body: what no engine can avoid, and what rung 1 expects.
struct BodyTime
{
    double least{0};
    double expected{0};
    std::vector<std::pair<Stream, const Alone*>> collectives;
};

/// Sums over one iteration of a class, in seconds.
struct ClassSums
{
    double busyLeast{0};
    double busy{0};
    std::array<double, kActions> byAction{}; //!< expected
    std::array<double, kActions> leastByAction{};
    std::map<uint16_t, double> firstForward;  //!< least, by chunk
    std::map<uint16_t, double> leastBackward; //!< least backward or input gradient, by chunk
    double nic{0};                            //!< payload of one rank over its NIC
    double gather{0};                         //!< collectives on Stream::Gather, alone
    double reduce{0};                         //!< on Stream::Reduce, alone
    double largest{0};                        //!< the longest single collective of the two
    double hop{0};                            //!< the slowest message it sends, alone
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
                m_sums.busyLeast += op.duration.S();
                m_sums.busy += op.duration.S();
                m_sums.byAction[static_cast<size_t>(Action::Optimizer)] += op.duration.S();
                m_sums.leastByAction[static_cast<size_t>(Action::Optimizer)] += op.duration.S();
            }
            else if (op.kind == OpKind::Send)
            {
                AddSend(op);
            }
            else if (op.kind == OpKind::Collective)
            {
                AddCollective(op.stream, AloneOf(op.index));
            }
        }
        return m_sums;
    }

  private:
    void AddRun(const Op& op)
    {
        const BodyTime& time = TimeOf(op.index);
        for (const auto& [stream, alone] : time.collectives)
        {
            AddCollective(stream, *alone);
        }
        const auto action = static_cast<size_t>(op.action);
        m_sums.busyLeast += time.least;
        m_sums.busy += time.expected;
        m_sums.byAction[action] += time.expected;
        m_sums.leastByAction[action] += time.least;
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
        const TransferCost& cost = m_costs.OfMessage(m_classId, op.peer, op.bytes);
        m_sums.hop = std::max(m_sums.hop, cost.Alone().S());
        if (cost.port == Port::Nic)
        {
            m_sums.nic += static_cast<double>(op.bytes.Count()) * 8.0 / NicRate();
        }
    }

    void AddCollective(Stream stream, const Alone& alone)
    {
        m_sums.nic += alone.nic;
        if (!IsOfLayer(stream))
        {
            (stream == Stream::Gather ? m_sums.gather : m_sums.reduce) += alone.seconds;
            m_sums.largest = std::max(m_sums.largest, alone.seconds);
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
        alone.seconds = CollectiveSeconds(m_run.graph.collectives[collective],
                                          [this, collective](uint32_t p) -> const TransferCost& {
                                              return m_costs.OfPhase(m_classId, collective, p);
                                          });
        alone.seconds += phases.empty() ? 0 : m_costs.LossesOfChunks(m_classId, collective).S();
        double nvlink = 0;
        for (uint32_t p = 0; p < phases.size(); p++)
        {
            const Phase& phase = phases[p];
            const TransferCost& cost = m_costs.OfPhase(m_classId, collective, p);
            if (cost.port == Port::Nvlink)
            {
                nvlink += cost.portSeconds * chunks;
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
    LoneCollective LoneOf(const Op& op, double seconds) const
    {
        LoneCollective lone;
        lone.comm = m_run.graph.collectives[op.index].comm;
        // Down, so that a bound stays one.
        lone.time =
            Duration::Picoseconds(IsOfLayer(op.stream) ? static_cast<int64_t>(seconds * 1e12) : 0);
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
                time.collectives.emplace_back(op.stream, &AloneOf(op.index));
            }
        }
        // Everything that happens later for whatever reason only makes it longer: neither what
        // collectives take from computing nor contention is in the first.
        time.least = WalkBody(ops, 0, [this](const Op& op) {
                         return LoneOf(op, AloneOf(op.index).least);
                     }).total.S();
        time.expected = WalkBody(ops, m_class->collectiveShare, [this](const Op& op) {
                            return LoneOf(op, AloneOf(op.index).seconds);
                        }).total.S();
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
        const double work = At(stage.leastByAction, Action::Forward) +
                            At(stage.leastByAction, Action::Backward) +
                            At(stage.leastByAction, Action::InputGradient) +
                            At(stage.leastByAction, Action::ForwardBackward);
        longest = std::max(longest, before + work);
        before += LeastPass(stage.firstForward, 0) + LeastPass(stage.leastBackward, 0);
    }
    return longest + At(stages.front().leastByAction, Action::Optimizer);
}

/// Payload between buildings over the capacity of all spans in both directions.
double
CutTime(const Scenario& scenario, const PreparedRun& run)
{
    double capacity = 0;
    for (const CrossLinkSpec& link : scenario.cluster.crossLinks)
    {
        capacity += 2.0 * link.capacity.Value();
    }
    if (capacity == 0)
    {
        return 0;
    }
    return static_cast<double>(CrossBuildingBytes(run).Count()) * 8.0 / capacity;
}

/// Time of one microbatch, all chunks, on a rank.
PassTimes
PassTimesOf(const ClassSums& sums, double microbatches)
{
    const auto each = [&](Action action) {
        return Duration::Seconds(At(sums.byAction, action) / microbatches);
    };
    // Of what is overlapped, each pass has about a third.
    const Duration third = each(Action::ForwardBackward) / 3;
    PassTimes times;
    times.forward = each(Action::Forward) + third;
    times.inputGradient = each(Action::Backward) + each(Action::InputGradient) + third;
    times.weightGradient = each(Action::WeightGradient) + third;
    return times;
}

} // namespace

ClosedForm
ClosedFormOf(const Scenario& scenario,
             const PreparedRun& run,
             std::shared_ptr<const NetworkFacts> facts)
{
    const ParallelPlan& plan = run.layout.plan;
    Summation summation(scenario, run, std::move(facts));
    std::vector<ClassSums> stages;
    double bound = CutTime(scenario, run);
    ClassSums slowest;
    double hops = 0;
    double slowestHop = 0;
    for (uint32_t c = 0; c < run.graph.classes.size(); c++)
    {
        const ClassSums sums = summation.Of(c);
        bound = std::max({bound, sums.busyLeast, sums.nic});
        hops += sums.hop;
        slowestHop = std::max(slowestHop, sums.hop);
        if (sums.busy > slowest.busy)
        {
            slowest = sums;
        }
        if (run.graph.classes[c].stage == stages.size())
        {
            stages.push_back(sums);
        }
    }
    bound = std::max(bound, LongestPath(stages));

    const double m =
        static_cast<double>(scenario.Job().workload.globalBatch) / plan.dp / plan.microbatch;
    // Fill and drain pass every boundary once each way. In the steady state of strict 1F1B a slow
    // boundary costs about one round trip per two microbatches; schedules with more microbatches
    // in flight than stages hide it, GPipe does not meet it.
    const bool strict = plan.schedule->Facts().waitsForGradients;
    const double latency = plan.pp == 1 ? 0.0 : 2.0 * hops + (strict ? (m - 1) * slowestHop : 0.0);
    // Reductions begin with the last microbatch's backward of the first chunk that is done, gathers
    // are needed from the first forward on; what does not fit beside those passes is exposed, and
    // of each at least the one unit that nothing can hide.
    const PassTimes times = PassTimesOf(slowest, m);
    const double backward = times.Backward().S();
    const double forward = times.forward.S();
    const double windows = plan.Reshards() ? m : 1.0;
    const double reduce =
        std::max(std::min(slowest.largest, slowest.reduce), slowest.reduce - windows * backward);
    const double gather =
        std::max(std::min(slowest.largest, slowest.gather), slowest.gather - windows * forward);
    ClosedForm result;
    const double estimate = slowest.busy +
                            plan.schedule->Bubble(PipelineShapeOf(scenario.Job()), times).S() +
                            latency + reduce + gather;
    result.bound = Duration::Seconds(bound);
    result.estimate = std::max(result.bound, Duration::Seconds(estimate));
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
