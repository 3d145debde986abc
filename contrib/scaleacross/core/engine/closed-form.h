// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLOSED_FORM_H
#define SCALEACROSS_CLOSED_FORM_H

#include "core/engine/engine.h"
#include "core/engine/network-facts.h"

#include <functional>
#include <memory>
#include <variant>

namespace scaleacross
{

/**
 * Iteration time by closed forms over the sums of the class programs (rung 1), without ordering any
 * event.
 *
 * `bound` is admissible: no engine that sends this plan's bytes can be faster. It is the greatest
 * of
 *  - the busiest class: its compute, the launches and the port time of its blocking collectives;
 *  - the longest chain from one beginning of an iteration of stage 0 to the next, through bodies
 *    and messages in the order of the programs (LeastReplay);
 *  - the fullest NIC: payload of a rank over the NIC rate, of trees over the fastest of all;
 *  - the fullest cut: uplinks of a leaf or a zone, or a span, in one direction: payload and
 *    headers over its capacity;
 *  - the cut that gathers and reductions need for longest, and the passes between these
 *    (ParameterWindowBound).
 *
 * Less a millionth, as engines count whole picoseconds.
 *
 * Memory and payload between buildings are those of every engine's report.
 *
 * Of the analytical engine alone the bound may also be that of a replay with its own costs
 * (AloneReplay), and the busiest class's bodies be what they take by these, which is much nearer.
 *
 * Found step by step, what tells most for its cost first: memory and the replay or the longest
 * chain of one class, then the cuts, then what is between reductions and gathers, then the other
 * classes' chains, the payload between buildings, and the busiest class and NIC. Each step only
 * adds.
 */
struct ClosedForm
{
    Duration bound;
    Bytes memoryMax;
    Bytes crossBuildingBytes;
};

/// Whose times a bound is below.
enum class BoundOf
{
    EveryEngine,
    Analytical //!< which knows of the network what its own costs say (AloneReplay)
};

/// What may be said of a time whose sum is `seconds`, since engines count whole picoseconds.
Duration LessRounding(double seconds);

/// Whether a plan of which at least this is known is worth the next step; asked after each.
using IsWorthMore = std::function<bool(const ClosedForm&)>;

/// All of it.
inline bool
Always(const ClosedForm& /* form */)
{
    return true;
}

/// Of a plan that PrepareRun has accepted; `facts` are those of the scenario. Ends early, with what
/// is known by then, where the plan is not worth more.
ClosedForm ClosedFormOf(const Scenario& scenario,
                        const PreparedRun& run,
                        std::shared_ptr<const NetworkFacts> facts,
                        BoundOf engine,
                        const IsWorthMore& isWorthMore);
/// The whole of it.
ClosedForm ClosedFormOf(const Scenario& scenario,
                        const PreparedRun& run,
                        BoundOf engine = BoundOf::EveryEngine);

/// PrepareRun, then ClosedFormOf, for many plans of one setting. Copies share what they found out;
/// threads may share one.
class ClosedFormFilter
{
  public:
    explicit ClosedFormFilter(BoundOf engine = BoundOf::EveryEngine)
        : m_engine(engine)
    {
    }

    std::variant<ClosedForm, Infeasible> operator()(const Scenario& scenario,
                                                    const IsWorthMore& isWorthMore) const;

  private:
    BoundOf m_engine;
    std::shared_ptr<NetworkFactsCache> m_facts{std::make_shared<NetworkFactsCache>()};
};

} // namespace scaleacross

#endif // SCALEACROSS_CLOSED_FORM_H
