// SPDX-License-Identifier: GPL-2.0-only

#include "cli/check-ranking.h"

#include "cli/engines.h"
#include "cli/show/report-text.h"
#include "cli/workers/stop-after.h"
#include "cli/workers/time-limit.h"
#include "core/engine/flow/flow-engine.h"
#include "core/engine/known-differences.h"
#include "core/engine/loss-warnings.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
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

/// A check on its way.
class Checker
{
  public:
    Checker(const Study& study,
            const SearchSpace& space,
            const CompareSetting& setting,
            size_t runs,
            Database& database,
            const std::atomic<bool>& stop)
        : m_study(study),
          m_space(space),
          m_setting(setting),
          m_database(database),
          m_stop(stop),
          m_progress(runs)
    {
    }

    /// Runs plans on all engines, and leaves out those for which something stops it too early.
    void Check(const std::vector<Plan>& plans,
               const std::vector<std::unique_ptr<Engine>>& engines,
               std::vector<Comparison>& checked)
    {
        for (Comparison& one : CompareEngines(m_study,
                                              m_space,
                                              plans,
                                              engines,
                                              m_setting,
                                              m_database,
                                              m_stop,
                                              m_progress))
        {
            if (one.engines.size() == engines.size())
            {
                checked.push_back(std::move(one));
            }
        }
    }

  private:
    const Study& m_study;
    const SearchSpace& m_space;
    const CompareSetting& m_setting;
    Database& m_database;
    const std::atomic<bool>& m_stop;
    CompareProgress m_progress;
};

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

/// Checks plans where nobody has asked for it.
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
        const Duration most =
            std::clamp(Duration::Seconds(answer.seconds), kUnaskedLeast, kUnaskedLimit);
        check.cutShort = setting.run.limits.wallTime > most;
        setting.run.limits.wallTime = std::min(setting.run.limits.wallTime, most);
        const size_t runs = plans.size() * engines.size();
        Checker checker(study, space, setting, runs, database, timer.Flag());
        // Without a time of the best plan the others' say nothing of whether it stays the best.
        checker.Check({plans.front()}, engines, check.comparisons);
        if (const Failure* failure = FirstFailure(check))
        {
            check.leftOut = "no time of the best plan, " + failure->detail;
            return;
        }
        checker.Check({plans.begin() + 1, plans.end()}, engines, check.comparisons);
    }
    const size_t missing = plans.size() - check.comparisons.size();
    if (missing > 0 && !stop)
    {
        check.leftOut = fmt::format("{} of {} plans, the time of --stop-after is used up",
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

/// Whether something holds of what a further engine has made of a plan.
template <class Holds>
bool
AnyFurther(const RankingCheck& check, Holds holds)
{
    return std::any_of(
        check.comparisons.begin(),
        check.comparisons.end(),
        [&holds](const Comparison& one) {
            return std::any_of(one.evaluations.begin() + 1, one.evaluations.end(), holds);
        });
}

/// How to have runs done that a limit has ended which nobody has given; "" where none has.
std::string
MoreTimeText(const RankingCheck& check)
{
    const bool ended = check.cutShort && AnyFurther(check, [](const Evaluation& one) {
                           const auto* failure = std::get_if<Failure>(&one);
                           return failure != nullptr && failure->reason == "timeout";
                       });
    return ended ? "With --set 'engines=[" + check.engines.front() + ", " + FurtherEngines(check) +
                       "]' " + FurtherEngines(check) + " then has all of --time-limit.\n"
                 : "";
}

/// What a plan runs on by one of its engines, without losses that it does not meet.
Scenario
MetBy(const SearchSpace& space, const Comparison& one, size_t engine)
{
    const Scenario scenario = space.With(one.plan);
    const auto* report = std::get_if<RunReport>(&one.evaluations[engine]);
    return report != nullptr ? WithoutIdleLosses(scenario, *report) : scenario;
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
                 WarningsOfKnownDifferences(MetBy(space, one, i), one.engines[i]))
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

/// Whether there is nothing to set beside the first engine: none was asked, or none has a time and
/// it is said why.
bool
WasLeftOut(const RankingCheck& check)
{
    const auto ran = [](const Evaluation& one) { return std::holds_alternative<RunReport>(one); };
    return check.comparisons.empty() || (!check.leftOut.empty() && !AnyFurther(check, ran));
}

/// That, or every other engine has refused all of the plans.
bool
HasNoTable(const RankingCheck& check)
{
    const auto taken = [](const Evaluation& one) { return RefusalIn(one) == nullptr; };
    return WasLeftOut(check) || !AnyFurther(check, taken);
}

/// The times of the plans by all engines, as a table below its title; "" where there are none.
std::string
TableOf(const SearchSpace& space, const Answer& answer, const RankingCheck& check)
{
    return HasNoTable(check)
               ? ""
               : std::string("\nThe best by ") +
                     (check.asked ? "every engine of the study"
                                  : check.engines.front() + " and " + FurtherEngines(check)) +
                     (answer.conclusion.sure ? ", of those that the first does not tell apart"
                                             : "") +
                     ":\n" +
                     ComparisonText(space, check.comparisons, ReferenceEngine(check.engines));
}

/// What is said behind the table, or in its place, in parts behind empty lines.
std::string
RemarksOf(const SearchSpace& space, const Answer& answer, const RankingCheck& check)
{
    const std::string more = MoreTimeText(check);
    const std::string leftOut =
        check.leftOut.empty()
            ? ""
            : "\nNot checked by " + FurtherEngines(check) + ": " + check.leftOut + ".\n" + more;
    if (WasLeftOut(check))
    {
        return leftOut;
    }
    const std::string refusals = RefusalsText(check.comparisons);
    if (HasNoTable(check))
    {
        return "\nNot checked by another engine.\n" + refusals;
    }
    return (answer.goals.objective->followsTime ? FastestText(space, check.comparisons) : "") +
           (refusals.empty() ? "" : "\n" + refusals) + (leftOut.empty() ? more : leftOut) +
           DifferencesText(space, check);
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
        const size_t runs = plans.size() * engines.size();
        Checker(study, space, setting, runs, database, stop)
            .Check(plans, engines, check.comparisons);
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
    return TableOf(space, answer, check) + RemarksOf(space, answer, check);
}

std::vector<std::string>
CheckSentences(const SearchSpace& space, const Answer& answer, const RankingCheck& check)
{
    std::vector<std::string> sentences;
    std::istringstream stream(RemarksOf(space, answer, check));
    for (std::string line; std::getline(stream, line);)
    {
        if (!line.empty())
        {
            sentences.push_back(line);
        }
    }
    return sentences;
}

Json
CheckJson(const SearchSpace& space, const Answer& answer, const RankingCheck& check)
{
    Json checks = ComparisonJson(space, check.comparisons, ReferenceEngine(check.engines));
    auto entry = checks.begin();
    for (const Comparison& one : check.comparisons)
    {
        for (size_t i = 0; i < one.engines.size(); i++)
        {
            (*entry++)["warnings"] =
                WarningsOfKnownDifferences(MetBy(space, one, i), one.engines[i]);
        }
    }
    return {{"checks", checks},
            {"not_checked", check.leftOut.empty() ? Json(nullptr) : Json(check.leftOut)},
            {"checked", CheckSentences(space, answer, check)}};
}

} // namespace scaleacross
