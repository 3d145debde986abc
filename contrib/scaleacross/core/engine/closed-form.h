// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLOSED_FORM_H
#define SCALEACROSS_CLOSED_FORM_H

#include "core/engine/engine.h"
#include "core/engine/network-facts.h"

#include <memory>

namespace scaleacross
{

/**
 * Iteration time by closed forms over the sums of the class programs (rung 1), without ordering any
 * event.
 *
 * `bound` is admissible: no engine that sends this plan's bytes can be faster. It is the greatest
 * of
 *  - the busiest class: its compute and the port time of its blocking collectives;
 *  - the pipeline's longest path: forwards of the first microbatch down to a stage, all forwards
 * and input gradients there, input gradients of the last one back to stage 0, optimizer;
 *  - the fullest NIC: payload of a rank over the NIC rate;
 *  - the fullest cut: uplinks of a leaf or a zone, or a span, in one direction: payload and
 *    headers over its capacity.
 *
 * Memory and payload between buildings are those of every engine's report.
 */
struct ClosedForm
{
    Duration bound;
    Bytes memoryMax;
    Bytes crossBuildingBytes;
};

/// Of a plan that PrepareRun has accepted; `facts` are those of the scenario.
ClosedForm ClosedFormOf(const Scenario& scenario,
                        const PreparedRun& run,
                        std::shared_ptr<const NetworkFacts> facts);
ClosedForm ClosedFormOf(const Scenario& scenario, const PreparedRun& run);

/// PrepareRun, then ClosedFormOf, for many plans of one setting. Copies share what they found out;
/// threads may share one.
class ClosedFormFilter
{
  public:
    std::variant<ClosedForm, Infeasible> operator()(const Scenario& scenario) const;

  private:
    std::shared_ptr<NetworkFactsCache> m_facts{std::make_shared<NetworkFactsCache>()};
};

} // namespace scaleacross

#endif // SCALEACROSS_CLOSED_FORM_H
