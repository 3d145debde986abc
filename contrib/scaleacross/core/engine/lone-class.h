// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LONE_CLASS_H
#define SCALEACROSS_LONE_CLASS_H

#include "core/engine/class-costs.h"
#include "core/engine/closed-form.h"
#include "core/engine/least-costs.h"
#include "core/engine/network-facts.h"
#include "core/engine/network-model.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/collective-table.h"
#include "core/work/collectives/lowering.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace scaleacross
{

/**
 * The ranks of a stage of a plan, without anything to run:
 * collectives and bodies are written into it, and then it is asked what they take at least.
 *
 * Of every engine that is LeastCosts. Of the analytical engine it is what they take with ports and
 * cuts to themselves, latencies and chunks included, as AloneReplay() has it. What chunks take of a
 * cut is that without collisions: how many others spread them there is not known. Where ranks of a
 * stage may differ (RanksOfStagesDiffer), only some of them may be there at a time, and cuts and
 * losses do not count.
 */
class LoneClass
{
  public:
    /// Scenario and layout are referred to.
    /// @param representative the first of these ranks, where these are told apart
    /// Domain: CheckJob() refuses nothing.
    LoneClass(const Scenario& scenario,
              const RankLayout& layout,
              Rank representative,
              std::shared_ptr<const NetworkFacts> facts,
              BoundOf engine);

    const LoweringRules& Rules() const
    {
        return m_rules;
    }

    /// Where collectives are written to.
    CollectiveTable& Table()
    {
        return m_table;
    }

    /// Where bodies are written to.
    std::vector<Program>& Bodies()
    {
        return m_graph.bodies;
    }

    /// Ends what is written; asked is after it.
    void Seal();

    /// In seconds.
    double OfCollective(uint32_t collective);
    double OfBody(uint32_t body);

    /// How long each span needs for what all ranks of the stage send over it when they do the
    /// body once, in seconds, by the spans' number from 0.
    std::vector<double> SpansOf(uint32_t body) const;
    /// The same of a program's own collectives.
    std::vector<double> SpansOf(const Program& program) const;

  private:
    const Scenario& m_scenario;
    NetworkModel m_network;
    LoweringRules m_rules;
    TransferTimes m_times;
    bool m_alone;
    TaskGraph m_graph;
    CollectiveTable m_table;
    std::optional<ClassCosts> m_costs;
    std::optional<LeastCosts> m_least;
};

/// A plan whose passes have nothing to do with parameters.
ParallelPlan WithoutShards(ParallelPlan plan);

/// Whose bound may be asked of the ranks of one stage on behalf of all stages in their building:
/// `engine`, unless what a stage sends depends on where on the switches it is.
BoundOf OfAnyStage(BoundOf engine,
                   const Scenario& scenario,
                   const RankLayout& layout,
                   const NetworkFacts& facts);

/// Down, so that a bound stays one; whole picoseconds as they are.
Duration Down(double seconds);

} // namespace scaleacross

#endif // SCALEACROSS_LONE_CLASS_H
