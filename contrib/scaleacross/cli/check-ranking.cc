// SPDX-License-Identifier: GPL-2.0-only

#include "cli/check-ranking.h"

#include "cli/engines.h"
#include "cli/show/report-text.h"
#include "cli/workers/stop-after.h"
#include "cli/workers/time-limit.h"
#include "core/engine/flow/flow-engine.h"
#include "core/engine/known-differences.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

namespace scaleacross
{

namespace
{

/// The best plans that the first engine's errors, where they are known, do not tell from the very
/// best, one of those that do the same work: which of them is the fastest, only a better engine can
/// say.
std::vector<Plan>
PlansToCheck(const Answer& answer, size_t most)
{
    const auto best = answer.search.board.Best();
    const std::vector<PlanSureness>& sureness = answer.conclusion.plans;
    std::vector<Plan> plans;
    for (size_t i = 0; i < sureness.size() && plans.size() < most; i++)
    {
        if (sureness[i].sameAs == 0 && sureness[i].slower.value_or(0) < kSure)
        {
            plans.push_back(best[i].plan);
        }
    }
    return plans;
}

/// The engines that check a ranking, after the one that ranks.
std::vector<std::string>
EnginesOf(const Study& study, const Answer& answer)
{
    std::vector<std::string> engines = study.engines;
    // Beyond that the flow engine takes hashes for their mean, too, and says little that is new.
    const bool isSmall = study.scenario.cluster.Gpus() <= FlowEngine::kMaxApart;
    if (!study.enginesGiven && isSmall && answer.goals.objective->followsTime)
    {
        engines.push_back(FlowEngine().Name());
    }
    return engines;
}

/// What is left of --stop-after; Max(): it is not given.
Duration
TimeLeft(const ExploreOptions& options, const Answer& answer)
{
    const Duration limit = TimeLimitOf(options.stopAfter, "--stop-after");
    if (limit == Duration::Max())
    {
        return limit;
    }
    return answer.outOfTime ? Duration()
                            : std::max(Duration(), limit - Duration::Seconds(answer.seconds));
}

/// Runs all plans on all engines, and leaves out those for which something stops it too early.
std::vector<Comparison>
Compare(const Study& study,
        const SearchSpace& space,
        const std::vector<Plan>& plans,
        const std::vector<std::unique_ptr<Engine>>& engines,
        const CompareSetting& setting,
        Database& database,
        const std::atomic<bool>& stop)
{
    CompareProgress progress(plans.size() * engines.size());
    std::vector<Comparison> all =
        CompareEngines(study, space, plans, engines, setting, database, stop, progress);
    all.erase(std::remove_if(all.begin(),
                             all.end(),
                             [&engines](const Comparison& one) {
                                 return one.engines.size() < engines.size();
                             }),
              all.end());
    return all;
}

/// The same where nobody has asked for it.
void
CheckUnasked(const Study& study,
             const SearchSpace& space,
             const ExploreOptions& options,
             const Answer& answer,
             const std::vector<Plan>& plans,
             CompareSetting setting,
             Database& database,
             const std::atomic<bool>& stop,
             RankingCheck& check)
{
    const Duration left = TimeLeft(options, answer);
    if (left > Duration())
    {
        const StopAfter timer(left, stop);
        auto engines = MakeSweepEngines(study.engines, "engines", timer.Flag());
        for (size_t i = engines.size(); i < check.engines.size(); i++)
        {
            // Processes, which end in time even while they prepare, and take nothing along.
            engines.push_back(
                std::make_unique<WorkerEngine>(MakeEngine(check.engines[i]), timer.Flag()));
        }
        check.cutShort = setting.run.limits.wallTime > kUnaskedLimit;
        setting.run.limits.wallTime = std::min(setting.run.limits.wallTime, kUnaskedLimit);
        check.comparisons = Compare(study, space, plans, engines, setting, database, timer.Flag());
    }
    const size_t missing = plans.size() - check.comparisons.size();
    if (missing > 0 && !stop)
    {
        check.leftOut = fmt::format("{} of {} plans: the time of --stop-after is used up",
                                    missing,
                                    plans.size());
    }
}

/// Those behind the first: "flow".
std::string
FurtherEngines(const RankingCheck& check)
{
    std::string text;
    for (size_t i = 1; i < check.engines.size(); i++)
    {
        text += (i == 1 ? "" : ", ") + check.engines[i];
    }
    return text;
}

/// The first failure of the last engine; nullptr: it has none.
const Failure*
FirstFailure(const RankingCheck& check)
{
    for (const Comparison& one : check.comparisons)
    {
        if (const auto* failure = std::get_if<Failure>(&one.evaluations.back()))
        {
            return failure;
        }
    }
    return nullptr;
}

/// Whether the last engine has run a plan.
bool
HasRun(const RankingCheck& check)
{
    return std::any_of(check.comparisons.begin(),
                       check.comparisons.end(),
                       [](const Comparison& one) {
                           return std::holds_alternative<RunReport>(one.evaluations.back());
                       });
}

/// How to have runs done that a limit has ended which nobody has given; "" where none has.
std::string
MoreTimeText(const RankingCheck& check)
{
    const Failure* failure = FirstFailure(check);
    return check.cutShort && failure != nullptr && failure->reason == "timeout"
               ? "--set 'engines=[" + check.engines.front() + ", " + FurtherEngines(check) +
                     "]' gives it all of --time-limit.\n"
               : "";
}

/// What is known of how far from packets the engines are on these plans, which whoever checks by
/// packets need not know.
std::string
DifferencesText(const SearchSpace& space, const RankingCheck& check)
{
    const auto hasPackets = [](const std::string& name) { return FindEngine(name).row->packets; };
    if (std::any_of(check.engines.begin(), check.engines.end(), hasPackets))
    {
        return "";
    }
    std::vector<std::string> warnings;
    for (const Comparison& one : check.comparisons)
    {
        for (size_t i = 1; i < one.engines.size(); i++)
        {
            for (const std::string& warning :
                 WarningsOfKnownDifferences(space.With(one.plan), one.engines[i]))
            {
                if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
                {
                    warnings.push_back(warning);
                }
            }
        }
    }
    return warnings.empty() ? ""
                            : "\n" + WarningText(warnings) + "So this check proves little; --set " +
                                  "'engines=[" + check.engines.front() +
                                  ", packet]' has packets check these plans.\n";
}

} // namespace

RankingCheck
CheckRanking(const Study& study,
             const SearchSpace& space,
             const ExploreOptions& options,
             const Answer& answer,
             Database& database,
             const std::atomic<bool>& stop)
{
    RankingCheck check;
    check.engines = EnginesOf(study, answer);
    check.asked = study.enginesGiven;
    const std::vector<Plan> plans = PlansToCheck(answer, options.verify);
    if (check.engines.size() < 2 || answer.search.interrupted || plans.empty())
    {
        return check;
    }
    CompareSetting setting{options.common, options.worker.failures, {}};
    setting.run.seed = study.seed;
    setting.run.limits = LimitsOf(options.worker);
    if (check.asked)
    {
        const auto engines = MakeSweepEngines(study.engines, "engines", stop);
        check.comparisons = Compare(study, space, plans, engines, setting, database, stop);
    }
    else
    {
        CheckUnasked(study, space, options, answer, plans, setting, database, stop, check);
    }
    return check;
}

std::string
CheckText(const SearchSpace& space, const Answer& answer, const RankingCheck& check)
{
    const std::string leftOut =
        check.leftOut.empty()
            ? ""
            : "\nNot checked by " + FurtherEngines(check) + ", " + check.leftOut + ".\n";
    if (check.comparisons.empty())
    {
        return leftOut;
    }
    const Failure* failure = FirstFailure(check);
    if (!check.asked && failure != nullptr && !HasRun(check))
    {
        const std::string more = MoreTimeText(check);
        return "\nNot checked by " + FurtherEngines(check) + ": " + failure->detail +
               (more.empty() ? ".\n" : "; " + more) + leftOut;
    }
    const std::string refusals = RefusalsText(check.comparisons);
    const auto ran = [](const Evaluation& one) { return RefusalIn(one) == nullptr; };
    const bool checked =
        std::any_of(check.comparisons.begin(),
                    check.comparisons.end(),
                    [&ran](const Comparison& one) {
                        return std::any_of(one.evaluations.begin() + 1, one.evaluations.end(), ran);
                    });
    if (!checked)
    {
        return "\nNot checked by another engine.\n" + refusals + leftOut;
    }
    return std::string("\nThe best by ") +
           (check.asked ? "every engine of the study"
                        : check.engines.front() + " and " + FurtherEngines(check)) +
           (answer.conclusion.sure ? ", of those that the first does not tell apart" : "") + ":\n" +
           ComparisonText(space, check.comparisons, ReferenceEngine(check.engines)) +
           (answer.goals.objective->followsTime ? FastestText(space, check.comparisons) : "") +
           (refusals.empty() ? "" : "\n" + refusals) + MoreTimeText(check) + leftOut +
           DifferencesText(space, check);
}

Json
CheckJson(const SearchSpace& space, const RankingCheck& check)
{
    Json checks = ComparisonJson(space, check.comparisons, ReferenceEngine(check.engines));
    auto entry = checks.begin();
    for (const Comparison& one : check.comparisons)
    {
        for (const std::string& engine : one.engines)
        {
            (*entry++)["warnings"] = WarningsOfKnownDifferences(space.With(one.plan), engine);
        }
    }
    return {{"checks", checks},
            {"not_checked", check.leftOut.empty() ? Json(nullptr) : Json(check.leftOut)}};
}

} // namespace scaleacross
