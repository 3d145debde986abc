// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHOOSE_BASELINE_H
#define SCALEACROSS_CHOOSE_BASELINE_H

#include "core/base/errors.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/search.h"
#include "core/spec/plan-fields.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace scaleacross
{

/// Thrown by a choice that is interrupted.
class ChoiceInterrupted : public Interrupted
{
  public:
    explicit ChoiceInterrupted(std::optional<Plan> best)
        : m_best(std::move(best))
    {
    }

    /// The fastest plan until then, if any has run. It is not what the baseline chooses.
    const std::optional<Plan>& Best() const
    {
        return m_best;
    }

  private:
    std::optional<Plan> m_best;
};

/**
 * Returns the fastest plan of a school, or why it has none: its first space's most frequent reason.
 *
 * `jobs`, `stop` and `progress` of the options count; throws ChoiceInterrupted where stopped. The
 * plan does not depend on the number of threads.
 */
std::variant<Plan, Infeasible> ChooseBaseline(Baseline baseline,
                                              const Study& study,
                                              const Engine& engine,
                                              const SearchOptions& options);

/// Returns the fastest plan of a reference on one of its clusters, or why it has none there; with
/// the same options as above.
std::variant<Plan, Infeasible> ChooseOnSite(Baseline reference,
                                            const Study& site,
                                            const Engine& engine,
                                            const SearchOptions& options);

/// What baselines have chosen for one study on one engine, by their names.
using ChosenBaselines = std::map<std::string, std::variant<Plan, Infeasible>>;

/// The same, of those that begin at another's plan (BaselineFacts) without choosing that anew: what
/// is not among `chosen` is added.
const std::variant<Plan, Infeasible>& ChooseBaseline(Baseline baseline,
                                                     const Study& study,
                                                     const Engine& engine,
                                                     const SearchOptions& options,
                                                     ChosenBaselines& chosen);

/// The study with this plan and network, of which dp follows from the GPUs.
Study BeginningAt(const Plan& plan, const Study& study);

} // namespace scaleacross

#endif // SCALEACROSS_CHOOSE_BASELINE_H
