// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/version.h"
#include "core/engine/collective-time.h"
#include "core/engine/engine.h"
#include "core/program/step-pattern.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/fabric-graph.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/graph/collective-graph.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/graph/trace-graph.h"

#include <algorithm>
#include <deque>
#include <map>

namespace scaleacross
{

namespace
{

struct Volume
{
    Bytes all;
    Bytes cross;
};

/// A group of which a class is, as its volumes are counted.
struct CountedGroup
{
    RankGroup group;
    uint64_t times{0};              //!< how many groups of its family count here
    std::vector<uint32_t> building; //!< by member; empty where all are in one
};

/// Payload that a group sends in a phase, and what of it changes building.
Volume
VolumeOf(const Phase& phase, const CountedGroup& group)
{
    const uint32_t n = phase.group.Size();
    Volume volume;
    if (n == 1)
    {
        return volume;
    }
    volume.all = phase.bytes * TimesSent(phase);
    const std::vector<uint32_t>& building = group.building;
    if (building.empty())
    {
        return volume;
    }
    if (!StepsOf(phase).IsDirect())
    {
        const bool ring = StepsOf(phase).ChainOf() == Chain::Ring && phase.perServer == 1;
        for (uint32_t i = 0; i < n; i++)
        {
            if (ring && building[i] == building[(i + 1) % n])
            {
                continue; // where all of its output goes
            }
            for (const Outflow& output : FlowsOf(phase, i).outputs)
            {
                volume.cross += building[i] != building[output.to] ? output.bytes : Bytes(0);
            }
        }
        return volume;
    }
    // Member i sends part j to each member j elsewhere: the parts of other buildings, once per
    // member.
    std::map<uint32_t, uint32_t> members;
    std::map<uint32_t, Bytes> parts;
    for (uint32_t i = 0; i < n; i++)
    {
        members[building[i]]++;
        parts[building[i]] += PartOf(phase.bytes, i, n);
    }
    for (const auto& [where, count] : members)
    {
        volume.cross += (phase.bytes - parts[where]) * count;
    }
    return volume;
}

using ClassReports = std::array<ClassReport, kCommClasses>;

Bytes
SumOfCross(const ClassReports& classes)
{
    Bytes sum;
    for (const ClassReport& comm : classes)
    {
        sum += comm.crossBytes;
    }
    return sum;
}

/// Adds up what the operations of one rank class send, per communication class.
class VolumeCounter
{
  public:
    VolumeCounter(const PreparedRun& run, const RankClass& rankClass)
        : m_run(run),
          m_class(rankClass)
    {
    }

    void Add(const std::vector<Op>& ops, ClassReports& classes)
    {
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Run)
            {
                AddBody(op.index, classes);
            }
            else if (op.kind == OpKind::Send)
            {
                const Rank to = m_class.representative + op.peer;
                ClassReport& pipeline = classes[static_cast<size_t>(CommClass::Pipeline)];
                pipeline.bytes += op.bytes * m_class.ranks;
                if (m_run.layout.BuildingOf(m_class.representative) != m_run.layout.BuildingOf(to))
                {
                    pipeline.crossBytes += op.bytes * m_class.ranks;
                }
            }
            else if (op.kind == OpKind::Collective)
            {
                const Volume& volume = Of(op.index);
                const CommClass which = m_run.graph.collectives[op.index].comm;
                ClassReport& comm = classes[static_cast<size_t>(which)];
                comm.bytes += volume.all;
                comm.crossBytes += volume.cross;
            }
        }
    }

  private:
    /// Adds a body, whose operations are counted once.
    void AddBody(uint32_t body, ClassReports& classes)
    {
        const auto [entry, added] = m_bodies.try_emplace(body);
        if (added)
        {
            Add(m_run.graph.bodies[body].ops, entry->second);
        }
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            classes[k].bytes += entry->second[k].bytes;
            classes[k].crossBytes += entry->second[k].crossBytes;
        }
    }

    /// Groups of the family that the class takes part in; one that spans classes is counted by the
    /// class of its first member only.
    uint64_t GroupsCountedHere(const RankGroup& group) const
    {
        const Rank first = group.Member(m_class.representative, 0);
        const uint32_t own = m_run.graph.ClassOf(m_class.representative);
        if (m_run.graph.ClassOf(first) != own)
        {
            return 0;
        }
        uint32_t membersHere = 0;
        for (uint32_t i = 0; i < group.Size(); i++)
        {
            membersHere +=
                m_run.graph.ClassOf(group.Member(m_class.representative, i)) == own ? 1 : 0;
        }
        return m_class.ranks / membersHere;
    }

    /// Many phases have the same group.
    const CountedGroup& Counted(const RankGroup& group)
    {
        const auto known =
            std::find_if(m_groups.begin(), m_groups.end(), [&group](const CountedGroup& other) {
                return other.group == group;
            });
        if (known != m_groups.end())
        {
            return *known;
        }
        CountedGroup counted{group, GroupsCountedHere(group), {}};
        const uint32_t n = group.Size();
        if (m_run.layout.buildingBegin.size() > 2 && counted.times > 0)
        {
            for (uint32_t i = 0; i < n; i++)
            {
                counted.building.push_back(
                    m_run.layout.BuildingOf(group.Member(m_class.representative, i)));
            }
            const std::vector<uint32_t>& building = counted.building;
            if (std::count(building.begin(), building.end(), building.front()) == n)
            {
                counted.building.clear();
            }
        }
        m_groups.push_back(std::move(counted));
        return m_groups.back();
    }

    /// Of all groups that are counted here.
    const Volume& Of(uint32_t collective)
    {
        const auto known = m_volumes.find(collective);
        if (known != m_volumes.end())
        {
            return known->second;
        }
        Volume sum;
        const Collective& whole = m_run.graph.collectives[collective];
        for (const Phase& phase : whole.phases)
        {
            const CountedGroup& group = Counted(phase.group);
            const uint64_t groups = group.times;
            if (groups == 0)
            {
                continue;
            }
            if (phase.perServer > 1)
            {
                // Each lane leaves a building elsewhere.
                for (uint32_t c = 0; c < whole.chunks; c++)
                {
                    const Volume one = VolumeOf(ChunkOf(phase, c, whole.chunks), group);
                    sum.all += one.all * groups;
                    sum.cross += one.cross * groups;
                }
                continue;
            }
            // Chunks differ by a byte at most.
            const uint64_t larger = phase.bytes.Count() % whole.chunks;
            Phase chunk = phase;
            chunk.bytes = Bytes(phase.bytes.Count() / whole.chunks);
            for (const uint64_t count : {whole.chunks - larger, larger})
            {
                if (count > 0)
                {
                    const Volume one = VolumeOf(chunk, group);
                    sum.all += one.all * (groups * count);
                    sum.cross += one.cross * (groups * count);
                }
                chunk.bytes += Bytes(1);
            }
        }
        return m_volumes[collective] = sum;
    }

    const PreparedRun& m_run;
    const RankClass& m_class;
    std::deque<CountedGroup> m_groups; // deque: addresses stay
    std::map<uint32_t, Volume> m_volumes;
    std::map<uint32_t, ClassReports> m_bodies;
};

/// PrepareRun() of all that the scenario says.
std::variant<PreparedRun, Infeasible>
PrepareWhole(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    auto layout = job.collective ? LayOutCollective(scenario.cluster)
                  : job.trace    ? LayOutTrace(scenario)
                                 : LayOut(job.plan, scenario.cluster);
    if (auto* no = std::get_if<Infeasible>(&layout))
    {
        return *no;
    }
    PreparedRun run;
    run.layout = std::get<RankLayout>(std::move(layout));
    if (job.collective)
    {
        // Who takes part, on which the time of an algorithm depends, does not depend on it.
        auto graph = BuildCollectiveGraph(scenario, run.layout, CollectiveAlgorithm("ring"));
        if (auto* no = std::get_if<Infeasible>(&graph))
        {
            return *no;
        }
        run.graph = std::get<TaskGraph>(std::move(graph));
        run.layout.takingPart = TakingPart(run.graph);
        const LoweringRules rules(scenario, TimerOf(scenario, run.layout));
        run.graph = std::get<TaskGraph>(BuildCollectiveGraph(scenario, run.layout, rules));
        run.trains = false;
        return run;
    }
    if (job.trace)
    {
        const LoweringRules rules(scenario, TimerOf(scenario, run.layout));
        run.graph = BuildTraceGraph(scenario, run.layout, rules);
        run.trains = false;
        return run;
    }
    // What cannot run is refused before anything is built.
    if (auto no = CheckJob(scenario, run.layout))
    {
        return *no;
    }
    run.memory = MemoryOf(scenario, run.layout);
    if (auto no = CheckMemory(scenario, run.memory))
    {
        return *no;
    }
    run.memoryMax = MostOf(FullestOf(scenario, run.layout, run.memory));
    auto graph = BuildTaskGraph(scenario, run.layout, TimerOf(scenario, run.layout));
    if (auto* no = std::get_if<Infeasible>(&graph))
    {
        return *no;
    }
    run.graph = std::get<TaskGraph>(std::move(graph));
    return run;
}

} // namespace

std::vector<bool>
TakingPart(const TaskGraph& graph)
{
    std::vector<bool> taking(graph.ranks);
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        taking[rank] = !graph.classes[graph.ClassOf(rank)].program.ops.empty();
    }
    return taking;
}

std::variant<PreparedRun, Infeasible>
PrepareRun(const Scenario& scenario, const std::optional<SliceSpec>& slice)
{
    auto prepared = PrepareWhole(scenario);
    if (auto* run = std::get_if<PreparedRun>(&prepared); run != nullptr && slice)
    {
        *run = SliceOf(*run, *slice, ClusterPaths(scenario.cluster));
        run->trains = false;
    }
    return prepared;
}

void
CompleteReport(const Scenario& scenario, const PreparedRun& run, RunReport& report)
{
    const JobSpec& job = scenario.Job();
    report.version = Version();
    if (run.trains && report.iterationTime <= Duration())
    {
        throw OutOfRange("an iteration takes less than 1 ps, the shortest time there is");
    }
    double peak = 0;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        peak += building.gpus * building.gpu.bf16Peak.Value();
    }
    report.mfu =
        run.trains ? ModelFlops(job.model, job.workload).Value() / (report.iterationTime.S() * peak)
                   : 0.0;
    report.bubbleFraction = report.bubble.S() / report.iterationTime.S();
    report.exposedComm = Duration();
    for (const ClassReport& comm : report.classes)
    {
        report.exposedComm += comm.exposed;
    }
    report.memory = run.memory;
    report.memoryMax = run.memoryMax;
    for (const RankClass& rankClass : run.graph.classes)
    {
        VolumeCounter(run, rankClass).Add(rankClass.program.ops, report.classes);
    }
    report.crossBuildingBytes = SumOfCross(report.classes);
}

Bytes
CrossBuildingBytes(const PreparedRun& run)
{
    ClassReports classes;
    for (const RankClass& rankClass : run.graph.classes)
    {
        VolumeCounter(run, rankClass).Add(rankClass.program.ops, classes);
    }
    return SumOfCross(classes);
}

} // namespace scaleacross
