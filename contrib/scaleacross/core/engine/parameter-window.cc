// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/parameter-window.h"

#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace scaleacross
{

namespace
{

/// Where a class stands that has something to do with the cut.
struct ClassUse
{
    bool uses{false};
    bool gathers{false};
    std::optional<ProgramPoint> gathered; //!< the last gather is awaited
    bool inFirstForward{true};            //!< that is so in the first forward of a chunk
    std::vector<size_t> firstForwards;    //!< operation, by chunk
    std::set<uint32_t> collectives;       //!< on the cut
};

class Window
{
  public:
    Window(const TaskGraph& graph, const PipelineShape& shape, ClassCosts& costs, uint32_t cut)
        : m_graph(graph),
          m_costs(costs),
          m_cut(cut),
          m_isOnCut(graph.classes.size() * graph.collectives.size())
    {
        for (uint32_t c = 0; c < graph.classes.size(); c++)
        {
            m_uses.push_back(UseOf(c));
            m_gathers = m_gathers || m_uses.back().gathers;
        }
        m_last = m_gathers ? RankOf(shape, Positions(shape) - 1) : shape.ranks - 1;
        m_chunk = m_gathers ? shape.chunks - 1 : 0;
    }

    /// What is left of an iteration, in seconds; less than 0: it is not known.
    double Rest(LeastTimes& times)
    {
        const bool known = std::all_of(m_uses.begin(), m_uses.end(), [](const ClassUse& use) {
            return use.inFirstForward;
        });
        double rest = std::numeric_limits<double>::infinity();
        for (uint32_t c = 0; known && c < m_graph.classes.size(); c++)
        {
            const RankClass& last = m_graph.classes[c];
            if (last.stage == m_last && !last.program.ops.empty())
            {
                rest = std::min(rest, RestAfter(c, times));
            }
        }
        return known && rest < std::numeric_limits<double>::infinity() ? rest : -1;
    }

  private:
    bool IsOnCut(uint32_t classId, uint32_t collective)
    {
        std::optional<bool>& known =
            m_isOnCut[size_t{classId} * m_graph.collectives.size() + collective];
        if (!known)
        {
            // Of classes that a group joins one has the cut in its costs.
            const auto& together = m_costs.Participants(classId, collective);
            known = std::any_of(together.begin(), together.end(), [&](uint32_t c) {
                return HasCut(c, collective);
            });
        }
        return *known;
    }

    bool HasCut(uint32_t classId, uint32_t collective)
    {
        for (uint32_t p = 0; p < m_graph.collectives[collective].phases.size(); p++)
        {
            const std::vector<CutUse>& cuts = m_costs.OfPhase(classId, collective, p).cuts;
            if (std::any_of(cuts.begin(), cuts.end(), [this](const CutUse& use) {
                    return use.cut == m_cut && use.bytes > 0;
                }))
            {
                return true;
            }
        }
        return false;
    }

    ClassUse UseOf(uint32_t classId)
    {
        ClassUse use;
        std::vector<bool> gathers(m_graph.handles, false); // what was posted last under a handle
        const auto see = [&](const Op& op, const ProgramPoint& at, bool inFirstForward) {
            if (op.kind == OpKind::Collective && !IsOfLayer(op.stream))
            {
                const bool onCut = IsOnCut(classId, op.index);
                gathers[op.handle] = onCut && op.stream == Stream::Gather;
                use.gathers = use.gathers || gathers[op.handle];
                if (onCut)
                {
                    use.uses = true;
                    use.collectives.insert(op.index);
                }
            }
            else if (op.kind == OpKind::Wait && gathers[op.handle])
            {
                use.gathered = at;
                use.inFirstForward = inFirstForward;
            }
        };
        const std::vector<Op>& ops = m_graph.classes[classId].program.ops;
        for (size_t i = 0; i < ops.size(); i++)
        {
            if (ops[i].kind != OpKind::Run)
            {
                see(ops[i], {i, std::nullopt}, false);
                continue;
            }
            const bool first = ops[i].action == Action::Forward && ops[i].chunk == Seen(use);
            if (first)
            {
                use.firstForwards.push_back(i);
            }
            const std::vector<Op>& body = m_graph.bodies[ops[i].index].ops;
            for (size_t j = 0; j < body.size(); j++)
            {
                see(body[j], {i, j}, first);
            }
        }
        return use;
    }

    /// Chunks that have begun: they do so in their order.
    static uint32_t Seen(const ClassUse& use)
    {
        return static_cast<uint32_t>(use.firstForwards.size());
    }

    double RestAfter(uint32_t last, LeastTimes& times)
    {
        const std::vector<uint32_t> joined = ReachedFrom(m_graph, last);
        const auto isJoined = [&joined](uint32_t c) {
            return std::binary_search(joined.begin(), joined.end(), c);
        };
        if (std::none_of(joined.begin(), joined.end(), [this](uint32_t c) {
                return m_uses[c].uses;
            }))
        {
            return std::numeric_limits<double>::infinity(); // it has nothing to wait for
        }
        for (uint32_t c = 0; c < m_uses.size(); c++)
        {
            for (const uint32_t collective : m_uses[c].collectives)
            {
                const auto& together = m_costs.Participants(c, collective);
                if (std::none_of(together.begin(), together.end(), isJoined))
                {
                    return -1;
                }
            }
        }
        const ClassUse& use = m_uses[last];
        if (m_chunk >= use.firstForwards.size())
        {
            return -1;
        }
        ProgramPoint from{use.firstForwards[m_chunk], std::nullopt};
        from = use.gathered ? std::max(from, *use.gathered) : from;
        return LeastUntilPosted(
            m_graph,
            last,
            from,
            [this](uint32_t c, const Op& op) {
                return op.stream == Stream::Reduce && IsOnCut(c, op.index);
            },
            times);
    }

    const TaskGraph& m_graph;
    ClassCosts& m_costs;
    uint32_t m_cut;
    std::vector<std::optional<bool>> m_isOnCut; //!< by class x collective
    std::vector<ClassUse> m_uses;               //!< by class
    bool m_gathers{false};
    uint32_t m_last{0};  //!< stage
    uint32_t m_chunk{0}; //!< of it
};

} // namespace

double
ParameterWindowBound(const TaskGraph& graph,
                     const PipelineShape& shape,
                     ClassCosts& costs,
                     const ResourceUse& use,
                     const NetworkModel& network,
                     LeastTimes& times)
{
    double most = 0;
    uint32_t fullest = 0;
    for (uint32_t cut = 0; cut < network.Cuts().Count(); cut++)
    {
        const double bytes = use.InevitableOfParameters(ResourceUse::Ports(graph) + cut);
        const double seconds =
            bytes > 0 ? bytes * 8.0 / network.Cuts().Named(cut).Held().Value() : 0.0;
        if (seconds > most)
        {
            most = seconds;
            fullest = cut;
        }
    }
    if (most <= 0)
    {
        return 0;
    }
    const double rest = Window(graph, shape, costs, fullest).Rest(times);
    return rest > 0 ? most + rest : 0;
}

} // namespace scaleacross
