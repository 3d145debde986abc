// SPDX-License-Identifier: GPL-2.0-only

#include "cli/robust-plan.h"

#include "cli/compare-engines.h"
#include "cli/show/sureness.h"
#include "cli/show/table.h"
#include "core/base/text.h"
#include "core/explore/explanation.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace scaleacross
{

namespace
{

/// How often the plans that a search keeps may double until nothing else can matter.
constexpr size_t kMostDoublings = 4;

/// Searches and runs the cases of a study.
class Cases
{
  public:
    Cases(const Study& study,
          const ExploreOptions& options,
          const std::vector<UncertainCase>& cases,
          Database& database,
          const std::atomic<bool>& stop)
        : m_options(options),
          m_cases(cases),
          m_database(database),
          m_stop(stop)
    {
        for (const UncertainCase& one : cases)
        {
            Study there = study;
            there.scenario = one.scenario;
            there.baselines.clear();
            for (const auto& [key, value] : one.values)
            {
                there.settings.push_back({"cluster.cross." + key, value});
            }
            m_spaces.emplace_back(there);
            m_studies.push_back(std::move(there));
        }
    }

    CaseSearch Search(size_t index, size_t keep) const
    {
        ExploreOptions own = m_options;
        own.keep = keep;
        own.pareto = FrontText({}); // which many plans would run for
        own.restGap = "0";          // CaseSearch::beyond is the last one's exactly
        for (const auto& [key, value] : m_cases[index].values)
        {
            own.common.set.push_back("cluster.cross." + key + "=" + value);
        }
        const Answer answer =
            ExploreStudy(m_studies[index], m_spaces[index], own, m_database, m_stop);
        if (answer.search.interrupted)
        {
            throw Interrupted();
        }
        CaseSearch found;
        found.failed = !answer.search.counts.failed.empty();
        for (const Ranked& ranked : answer.search.board.Best())
        {
            found.best.emplace_back(ranked.plan, ranked.report.iterationTime);
        }
        if (found.best.size() == keep)
        {
            found.beyond = found.best.back().second;
        }
        return found;
    }

    std::vector<CaseTimes> Run(const std::vector<Plan>& plans, bool& failed) const
    {
        std::vector<CaseTimes> times(plans.size());
        for (size_t i = 0; i < m_studies.size(); i++)
        {
            const CaseTimes there = TimesOf(m_studies[i], m_spaces[i], plans, failed);
            for (size_t p = 0; p < plans.size(); p++)
            {
                times[p].push_back(there[p]);
            }
        }
        return times;
    }

    /// Times of plans in one case, or with the study's own values.
    CaseTimes TimesOf(const Study& study,
                      const SearchSpace& space,
                      const std::vector<Plan>& plans,
                      bool& failed) const
    {
        CompareSetting setting{m_options.common, m_options.worker.failures, {}};
        setting.run.seed = study.seed;
        setting.run.limits = LimitsOf(m_options.worker);
        CompareProgress progress(plans.size());
        CaseTimes times;
        for (const Comparison& run :
             CompareEngines(study,
                            space,
                            plans,
                            MakeSweepEngines({study.engines.front()}, "engines", m_stop),
                            setting,
                            m_database,
                            m_stop,
                            progress))
        {
            if (run.evaluations.empty())
            {
                throw Interrupted();
            }
            const auto* report = std::get_if<RunReport>(&run.evaluations.front());
            times.push_back(report != nullptr ? std::optional<Duration>(report->iterationTime)
                                              : std::nullopt);
            failed = failed || std::holds_alternative<Failure>(run.evaluations.front());
        }
        return times;
    }

  private:
    const ExploreOptions& m_options;
    const std::vector<UncertainCase>& m_cases;
    Database& m_database;
    const std::atomic<bool>& m_stop;
    std::vector<Study> m_studies;
    std::vector<SearchSpace> m_spaces;
};

/// Of the plan that is best with the study's own values, its place among all.
size_t
NominalPlace(const RobustFinding& finding)
{
    const auto& plans = finding.answer.plans;
    const auto found = std::find_if(plans.begin(), plans.end(), [&finding](const auto& plan) {
        return plan.text == finding.nominal;
    });
    return static_cast<size_t>(found - plans.begin());
}

/// The places that are told: the first ones, and the plan that is best with the study's own values.
std::vector<size_t>
PlacesOf(const RobustFinding& finding, size_t top)
{
    std::vector<size_t> places;
    for (size_t i = 0; i < std::min(top, finding.answer.plans.size()); i++)
    {
        places.push_back(i);
    }
    const size_t nominal = NominalPlace(finding);
    if (nominal >= top)
    {
        places.push_back(nominal);
    }
    return places;
}

std::string
TimeText(const std::optional<Duration>& time)
{
    return time ? ToString(*time) : "-";
}

std::optional<Duration>
SlowestOf(const RobustPlan& plan)
{
    const bool all = std::all_of(plan.times.begin(), plan.times.end(), [](const auto& time) {
        return time.has_value();
    });
    return all ? *std::max_element(plan.times.begin(), plan.times.end()) : std::nullopt;
}

/// "p95".
std::string
QuantileName(double quantile)
{
    return "p" + NumberText(100 * quantile);
}

/// How much longer one time is than another; none where one of them is missing.
std::optional<double>
Excess(const std::optional<Duration>& of, const std::optional<Duration>& over)
{
    return of && over ? std::optional<double>(RelativeExcess(*over, *of)) : std::nullopt;
}

/// What the best plan by the quantile costs and wins beside the one with the study's own values.
struct Trade
{
    std::optional<double> loses; //!< with the study's own values: so much longer it takes there
    std::optional<double> wins;  //!< by the quantile: so much longer the other takes
};

Trade
TradeOf(const RobustFinding& finding)
{
    const size_t nominal = NominalPlace(finding);
    const auto& plans = finding.answer.plans;
    return {Excess(finding.nominalTimes.front(), finding.nominalTimes[nominal]),
            Excess(plans[nominal].quantile, plans.front().quantile)};
}

/// Best plan / least quantile that any plan may have - 1.
std::optional<double>
GapOf(const RobustAnswer& answer)
{
    return answer.failed ? std::nullopt : Excess(answer.plans.front().quantile, answer.bound);
}

/// Where all plans that were left out have been looked at.
std::string
TailText(const RobustFinding& finding)
{
    const auto& tail = finding.answer.tail;
    if (tail.size() > 3)
    {
        return fmt::format("in each of the {} slowest cases", tail.size());
    }
    std::string text;
    for (const size_t index : tail)
    {
        text += (text.empty() ? "with " : " and with ") + finding.cases[index].Name();
    }
    return text;
}

/// One or two lines.
std::vector<std::string>
SentencesOf(const Study& study, const SearchSpace& space, const RobustFinding& finding)
{
    const RobustAnswer& answer = finding.answer;
    const RobustPlan& best = answer.plans.front();
    const std::string name = QuantileName(study.uncertain->quantile);
    if (!best.quantile)
    {
        return {fmt::format("No plan keeps any time with a probability of {:g} %.",
                            100 * study.uncertain->quantile)};
    }
    const RobustPlan& nominal = answer.plans[NominalPlace(finding)];
    std::string text;
    if (&nominal == &best)
    {
        text = fmt::format("{}, the best plan of the study as it is, has the least {} too.",
                           space.LabelOf(best.plan),
                           name);
    }
    else
    {
        const Trade trade = TradeOf(finding);
        text = fmt::format("{} has the least {}, {}. {} is the best plan of the study as it is; it "
                           "has {}{}",
                           space.LabelOf(best.plan),
                           name,
                           ToString(*best.quantile),
                           space.LabelOf(nominal.plan),
                           TimeText(nominal.quantile),
                           trade.wins ? ", " + PercentText(*trade.wins) + " more" : "");
        text += trade.loses
                    ? fmt::format(", and is {} faster as the study is", PercentText(*trade.loses))
                    : "";
        text += ".";
    }
    if (answer.proven)
    {
        return {text,
                fmt::format("Proven: no plan has a lesser {}, since all that were left out take at "
                            "least as long {}.",
                            name,
                            TailText(finding))};
    }
    if (answer.failed)
    {
        return {text, "Not proven to be the best by it, since runs have failed."};
    }
    return {text,
            fmt::format("Not proven to be the best by it: some that were left out may take {} {}, "
                        "so that it is proven to {}. A greater --keep may prove more.",
                        ToString(answer.bound),
                        TailText(finding),
                        PercentText(*GapOf(answer)))};
}

Json
SecondsOf(const std::optional<Duration>& time)
{
    return time ? Json(time->S()) : Json(nullptr);
}

Json
PlanJson(const SearchSpace& space, const RobustFinding& finding, size_t place)
{
    const RobustPlan& plan = finding.answer.plans[place];
    Json times = Json::array();
    for (const auto& time : plan.times)
    {
        times.push_back(SecondsOf(time));
    }
    return {{"label", space.LabelOf(plan.plan)},
            {"rank", place + 1},
            {"nominal_s", SecondsOf(finding.nominalTimes[place])},
            {"mean_s", SecondsOf(plan.mean)},
            {"quantile_s", SecondsOf(plan.quantile)},
            {"slowest_s", SecondsOf(SlowestOf(plan))},
            {"times_s", times}};
}

} // namespace

RobustFinding
FindRobustPlan(const Study& study,
               const SearchSpace& space,
               const ExploreOptions& options,
               const Answer& answer,
               Database& database,
               const std::atomic<bool>& stop)
{
    RobustFinding finding;
    finding.cases = CasesOf(study);
    const Cases cases(study, options, finding.cases, database, stop);
    RobustQuestion question;
    for (const UncertainCase& one : finding.cases)
    {
        question.shares.push_back(one.share);
    }
    question.quantile = study.uncertain->quantile;
    question.keep = options.keep;
    question.most = options.keep << kMostDoublings;
    question.search = [&cases](size_t index, size_t keep) { return cases.Search(index, keep); };
    question.run = [&cases](const std::vector<Plan>& plans, bool& failed) {
        return cases.Run(plans, failed);
    };
    std::vector<Plan> nominal;
    for (const Ranked& ranked : answer.search.board.Best())
    {
        nominal.push_back(ranked.plan);
    }
    finding.nominal = CanonicalText(nominal.front());
    finding.answer = FindRobust(nominal, question);
    finding.nominalTimes.resize(finding.answer.plans.size());
    std::vector<Plan> told;
    const auto places = PlacesOf(finding, options.top);
    for (const size_t place : places)
    {
        told.push_back(finding.answer.plans[place].plan);
    }
    bool ignored = false; // of the study as it is, nothing is proven here
    const CaseTimes times = cases.TimesOf(study, space, told, ignored);
    for (size_t i = 0; i < places.size(); i++)
    {
        finding.nominalTimes[places[i]] = times[i];
    }
    return finding;
}

std::string
RobustText(const Study& study, const SearchSpace& space, const RobustFinding& finding, size_t top)
{
    const auto& plans = finding.answer.plans;
    const std::string name = QuantileName(study.uncertain->quantile);
    std::string text =
        fmt::format("Uncertain spans, {} case{}: {} plans by the time that they keep "
                    "with a probability of {:g} % ({})\n\n",
                    finding.cases.size(),
                    finding.cases.size() == 1 ? "" : "s",
                    plans.size(),
                    100 * study.uncertain->quantile,
                    name);
    Table table(
        {{"#"}, {"plan", Table::Align::Left}, {name}, {"mean"}, {"slowest"}, {"as the study is"}});
    for (const size_t place : PlacesOf(finding, top))
    {
        const RobustPlan& plan = plans[place];
        table.Add({std::to_string(place + 1),
                   space.LabelOf(plan.plan),
                   TimeText(plan.quantile),
                   TimeText(plan.mean),
                   TimeText(SlowestOf(plan)),
                   TimeText(finding.nominalTimes[place])});
    }
    const size_t nominal = NominalPlace(finding);
    std::vector<Table::Column> columns{{"case", Table::Align::Left}, {"share"}, {"the first"}};
    if (nominal > 0)
    {
        columns.push_back({"#" + std::to_string(nominal + 1) + ", best as the study is"});
    }
    Table cases(columns);
    for (size_t i = 0; i < finding.cases.size(); i++)
    {
        std::vector<std::string> cells{finding.cases[i].Name(),
                                       fmt::format("{:.3g} %", 100 * finding.cases[i].share),
                                       TimeText(plans.front().times[i])};
        if (nominal > 0)
        {
            cells.push_back(TimeText(plans[nominal].times[i]));
        }
        cases.Add(cells);
    }
    text += table.Text() + "\n" + cases.Text() + "\n";
    for (const std::string& line : SentencesOf(study, space, finding))
    {
        text += line + "\n";
    }
    return text;
}

Json
RobustJson(const Study& study, const SearchSpace& space, const RobustFinding& finding, size_t top)
{
    const RobustAnswer& answer = finding.answer;
    Json cases = Json::array();
    for (const UncertainCase& one : finding.cases)
    {
        Json at = Json::object();
        for (const auto& [key, value] : one.values)
        {
            at[key] = value;
        }
        cases.push_back({{"at", at}, {"share", one.share}});
    }
    Json ranking = Json::array();
    for (size_t i = 0; i < std::min(top, answer.plans.size()); i++)
    {
        ranking.push_back(PlanJson(space, finding, i));
    }
    const Trade trade = TradeOf(finding);
    Json json = {
        {"quantile", study.uncertain->quantile},
        {"cases", cases},
        {"compared", answer.plans.size()},
        {"tail", answer.tail},
        {"proven", answer.proven},
        {"gap", JsonOf(GapOf(answer))},
        {"bound_s", answer.bound == Duration::Max() ? Json(nullptr) : Json(answer.bound.S())},
        {"best", PlanJson(space, finding, 0)},
        {"nominal_best", PlanJson(space, finding, NominalPlace(finding))},
        {"wins", JsonOf(trade.wins)},
        {"loses", JsonOf(trade.loses)},
        {"ranking", ranking},
        {"explanation", SentencesOf(study, space, finding)}};
    json["best"]["plan"] = ToJson(answer.plans.front().plan);
    return json;
}

} // namespace scaleacross
