// SPDX-License-Identifier: GPL-2.0-only

#include "cli/question.h"
#include "cli/rows-file.h"
#include "cli/show/progress-line.h"
#include "cli/show/report-json.h"
#include "cli/show/report-text.h"
#include "cli/show/table.h"
#include "cli/study-settings.h"
#include "cli/warnings.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/best-plan.h"
#include "core/explore/one-site.h"
#include "core/explore/span-quantity.h"

#include <algorithm>
#include <fmt/core.h>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

struct RequireCommand
{
    CommonOptions common;
    std::string loss;
    std::vector<std::string> of; //!< words of SpanQuantity; empty: kUsual
    RowsFile csv;
};

/// What is asked for unless the user says otherwise: words of SpanQuantities().
const std::vector<std::string> kUsual = {"span-capacity", "distance", "buffer"};

/// A study at one value of a quantity.
struct Point
{
    double value{0};
    std::string text; //!< the value
    std::optional<double> loss;
    BestPlan best;
    std::vector<std::string> warnings; //!< of the best plan
};

/// A quantity with all that was found of it.
struct Requested
{
    const SpanQuantity* quantity{nullptr};
    double own{0}; //!< the study's value
    Requirement requirement;
    std::map<double, Point> points; //!< the study's own, and all that were looked at

    const Point& At(double value) const
    {
        return points.at(value);
    }

    const Point& CheapEnd() const
    {
        const auto& samples = requirement.samples;
        return At(quantity->sense == Sense::Least ? samples.front().value : samples.back().value);
    }

    const Point& BetterEnd() const
    {
        const auto& samples = requirement.samples;
        return At(quantity->sense == Sense::Least ? samples.back().value : samples.front().value);
    }
};

std::string
SenseText(const SpanQuantity& quantity)
{
    return quantity.sense == Sense::Least ? "least" : "greatest";
}

std::string
WordOf(Finding finding)
{
    switch (finding)
    {
    case Finding::Found:
        return "found";
    case Finding::Everywhere:
        return "everywhere";
    case Finding::Nowhere:
        return "nowhere";
    case Finding::InPart:
        return "in-part";
    }
    return "";
}

std::vector<const SpanQuantity*>
QuantitiesOf(const std::vector<std::string>& words)
{
    std::vector<std::string> known;
    for (const SpanQuantity& quantity : SpanQuantities())
    {
        known.push_back(quantity.word);
    }
    std::vector<const SpanQuantity*> quantities;
    for (const std::string& word : words)
    {
        const SpanQuantity* quantity = FindSpanQuantity(word);
        const std::string nearest = Nearest(word, known);
        if (quantity == nullptr)
        {
            throw ConfigError("--of",
                              Quoted(word) + " is not known",
                              AnyOf(known),
                              nearest.empty() ? "" : "did you mean " + nearest + "?");
        }
        if (std::find(quantities.begin(), quantities.end(), quantity) != quantities.end())
        {
            throw ConfigError("--of", Quoted(word) + " is given twice", "every word once", "");
        }
        quantities.push_back(quantity);
    }
    return quantities;
}

/// The best plan of all GPUs in one building, and what that building is.
struct SitePlan
{
    BestPlan best;
    std::string assumed;
};

/// The fastest of the best plans on each of OneSitesOf().
SitePlan
BestSite(const Study& study, const Engine& engine, const SearchOptions& options)
{
    std::optional<SitePlan> fastest;
    for (const OneSite& site : OneSitesOf(study))
    {
        SitePlan own{FindBestPlan(site.study, engine, options), site.assumed};
        const bool isFaster = fastest && own.best.plan &&
                              (!fastest->best.plan || own.best.plan->report.iterationTime <
                                                          fastest->best.plan->report.iterationTime);
        if (!fastest || isFaster)
        {
            fastest = std::move(own);
        }
    }
    return *fastest;
}

/// Searches the study at values of one quantity after another.
class Asker
{
  public:
    Asker(const Study& study, const SearchOptions& options, double target)
        : m_study(study),
          m_options(options),
          m_target(target),
          m_site(BestSite(study, m_engine, options))
    {
    }

    const SitePlan& OneSite() const
    {
        return m_site;
    }

    Requested Ask(const SpanQuantity& quantity)
    {
        Requested asked;
        asked.quantity = &quantity;
        asked.own = quantity.get(m_study.scenario);
        SearchOptions options = m_options;
        options.filter = quantity.filter(m_options.filter);
        const auto lossAt = [&](double value) {
            const auto known = asked.points.find(value);
            if (known != asked.points.end())
            {
                return known->second.loss;
            }
            return asked.points.emplace(value, PointAt(quantity, value, options))
                .first->second.loss;
        };
        lossAt(asked.own);
        asked.requirement = FindRequirement(quantity.range(m_study.scenario),
                                            quantity.sense,
                                            m_target,
                                            {asked.own},
                                            lossAt);
        return asked;
    }

  private:
    Point PointAt(const SpanQuantity& quantity, double value, const SearchOptions& options)
    {
        Study study = m_study;
        quantity.set(study.scenario, value);
        Point point;
        point.value = value;
        point.text = quantity.text(study.scenario);
        m_line.ShowText(quantity.word + " " + point.text);
        point.best = FindBestPlan(study, m_engine, options);
        if (point.best.plan)
        {
            const Duration time = point.best.plan->report.iterationTime;
            point.loss = 1 - m_site.best.plan->report.iterationTime.S() / time.S();
            point.warnings = WarningsOf(SearchSpace(study).With(point.best.plan->plan),
                                        m_engine.Name(),
                                        study.search,
                                        &point.best.plan->report);
        }
        return point;
    }

    const Study& m_study;
    const SearchOptions& m_options;
    double m_target;
    AnalyticalEngine m_engine;
    ProgressLine m_line{"require"};
    SitePlan m_site;
};

// --- As text -------------------------------------------------------------------------------------

std::string
LossText(const std::optional<double>& loss)
{
    const std::string text = loss ? fmt::format("{:.2f} %", 100 * *loss) : "-";
    return text == "-0.00 %" ? "0.00 %" : text;
}

/// "2.4 Tbps, where 3.10 % are lost".
std::string
EndText(const Point& point)
{
    return point.text + (point.loss ? ", where " + LossText(point.loss) + " are lost"
                                    : ", where no plan can run");
}

void
AddRow(Table& table, const std::string& what, const std::string& at, const Point& point)
{
    const auto& plan = point.best.plan;
    table.Add({what,
               at,
               point.text,
               LossText(point.loss),
               plan ? ToString(plan->report.iterationTime) : "-",
               plan ? point.best.label : "none"});
}

void
AddRows(Table& table, const Requested& asked)
{
    const Requirement& requirement = asked.requirement;
    AddRow(table,
           SenseText(*asked.quantity) + " " + asked.quantity->word,
           "study",
           asked.At(asked.own));
    if (requirement.finding == Finding::Found)
    {
        AddRow(table, "", "answer", asked.At(*requirement.value));
        AddRow(table,
               "",
               asked.quantity->sense == Sense::Least ? "just below" : "just above",
               asked.At(*requirement.beyond));
        return;
    }
    AddRow(table, "", "better end", asked.BetterEnd());
    AddRow(table, "", "other end", asked.CheapEnd());
}

/// The values that meet the target, or all of them beyond the answer.
std::string
MetText(const Requested& asked, double target)
{
    const Requirement& requirement = asked.requirement;
    std::string text;
    for (const Sample& sample : requirement.samples)
    {
        const bool beyond = !requirement.value || (asked.quantity->sense == Sense::Least
                                                       ? sample.value < *requirement.beyond
                                                       : sample.value > *requirement.beyond);
        if (beyond && sample.Meets(target))
        {
            text += (text.empty() ? "" : ", ") + asked.At(sample.value).text;
        }
    }
    return text;
}

std::string
SentenceOf(const Requested& asked, double target)
{
    const Requirement& requirement = asked.requirement;
    const std::string word = asked.quantity->word + ": ";
    const std::string range = fmt::format("the {} values looked at, from {}, to {}",
                                          requirement.samples.size(),
                                          EndText(asked.BetterEnd()),
                                          EndText(asked.CheapEnd()));
    switch (requirement.finding)
    {
    case Finding::Found:
        return word +
               fmt::format("found to {:g} %, the {} is {}",
                           100 * kRequirementTolerance,
                           SenseText(*asked.quantity),
                           EndText(asked.At(*requirement.value))) +
               (requirement.monotone ? ""
                                     : "; the loss is not monotone: beyond it the target is met "
                                       "again at " +
                                           MetText(asked, target)) +
               ".\n";
    case Finding::Everywhere:
        return word + "the target is met at all of " + range + ".\n";
    case Finding::Nowhere:
        return word + "the target is met at none of " + range + ".\n";
    case Finding::InPart:
        return word + "no answer, since the loss is not monotone: of " + range +
               ", the target is met only at " + MetText(asked, target) + ".\n";
    }
    return "";
}

std::string
TextOf(const Study& study,
       double target,
       const SitePlan& site,
       const std::vector<Requested>& answers)
{
    std::string text = fmt::format("{}: {} on {} GPUs in {} buildings\n"
                                   "One site with all of them takes {}: {}; {}\n"
                                   "Asked for: at most {:g} % less than its throughput.\n\n",
                                   TitleOf(study),
                                   study.scenario.Job().model.name,
                                   study.scenario.cluster.Gpus(),
                                   study.scenario.cluster.buildings.size(),
                                   ToString(site.best.plan->report.iterationTime),
                                   site.best.label,
                                   site.assumed,
                                   100 * target);
    Table table({{"asked for", Table::Align::Left},
                 {"at", Table::Align::Left},
                 {"value"},
                 {"loses"},
                 {"iteration"},
                 {"best plan", Table::Align::Left}});
    std::string sentences;
    std::vector<std::string> warnings;
    for (const Requested& asked : answers)
    {
        AddRows(table, asked);
        sentences += SentenceOf(asked, target);
        if (asked.requirement.value)
        {
            for (const std::string& warning : asked.At(*asked.requirement.value).warnings)
            {
                warnings.push_back("at the " + SenseText(*asked.quantity) + " " +
                                   asked.quantity->word + ": " + warning);
            }
        }
    }
    return text + table.Text() + "\n" + sentences + WarningText(warnings);
}

// --- As JSON -------------------------------------------------------------------------------------

Json
JsonOf(const BestPlan& best)
{
    if (!best.plan)
    {
        return nullptr;
    }
    Json json = {{"label", best.label}};
    json.update(ToJson(best.plan->plan));
    json["label"] = best.label;
    return json;
}

Json
JsonOf(const Point& point)
{
    const auto& plan = point.best.plan;
    return {{"value", point.value},
            {"text", point.text},
            {"loss", point.loss ? Json(*point.loss) : Json(nullptr)},
            {"iteration_time_s", plan ? Json(plan->report.iterationTime.S()) : Json(nullptr)},
            {"plan", JsonOf(point.best)},
            {"reason", plan ? Json(nullptr) : Json(point.best.reason)},
            {"warnings", point.warnings}};
}

Json
JsonOf(const Requested& asked)
{
    const Requirement& requirement = asked.requirement;
    Json samples = Json::array();
    for (const Sample& sample : requirement.samples)
    {
        const Point& point = asked.At(sample.value);
        samples.push_back({{"value", point.value},
                           {"loss", point.loss ? Json(*point.loss) : Json(nullptr)},
                           {"label", point.best.plan ? Json(point.best.label) : Json(nullptr)}});
    }
    const auto pointAt = [&asked](const std::optional<double>& value) {
        return value ? JsonOf(asked.At(*value)) : Json(nullptr);
    };
    return {{"quantity", asked.quantity->word},
            {"key", asked.quantity->key},
            {"unit", asked.quantity->unit},
            {"sense", SenseText(*asked.quantity)},
            {"finding", WordOf(requirement.finding)},
            {"monotone", requirement.monotone},
            {"study", JsonOf(asked.At(asked.own))},
            {"answer", pointAt(requirement.value)},
            {"beyond", pointAt(requirement.beyond)},
            {"better_end", JsonOf(asked.BetterEnd())},
            {"other_end", JsonOf(asked.CheapEnd())},
            {"samples", samples}};
}

Json
JsonOf(const Study& study,
       double target,
       const SitePlan& site,
       const std::vector<Requested>& answers)
{
    Json json = {{"study", study.name},
                 {"settings", SettingsJson(study.settings)},
                 {"engine", study.engines.front()},
                 {"loss", target},
                 {"tolerance", kRequirementTolerance},
                 {"one_site",
                  {{"iteration_time_s", site.best.plan->report.iterationTime.S()},
                   {"plan", JsonOf(site.best)},
                   {"assumed", site.assumed}}}};
    json["answers"] = Json::array();
    for (const Requested& asked : answers)
    {
        json["answers"].push_back(JsonOf(asked));
    }
    return json;
}

// -------------------------------------------------------------------------------------------------

Exit
Require(const RequireCommand& options)
{
    const double target = ParseAt("--loss", [&] { return ParseFraction(options.loss, 0, 1); });
    const auto quantities = QuantitiesOf(options.of.empty() ? kUsual : options.of);
    const Study study = StudyOf(options.common);
    ExpectAnalytical(study);
    if (study.scenario.cluster.crossLinks.empty())
    {
        throw ConfigError(study.path + " cluster.buildings",
                          "the study has one building, which loses nothing against one site",
                          "two buildings or more",
                          "give cluster.buildings and cluster.cross");
    }
    for (const SpanQuantity* quantity : quantities)
    {
        if (const auto refusal = quantity->refusal(study))
        {
            throw ConfigError(*refusal);
        }
    }
    options.csv.Expect();
    const auto& stop = CatchInterrupts();
    const SearchOptions search = SearchOptionsOf(options.common, study, stop);
    return Uninterrupted([&] {
        Asker asker(study, search, target);
        if (!asker.OneSite().best.plan)
        {
            PrintError("one site with all GPUs of " + study.name +
                       " has no plan to compare with: " + asker.OneSite().best.reason);
            return Exit::Failed;
        }
        std::vector<Requested> answers;
        for (const SpanQuantity* quantity : quantities)
        {
            answers.push_back(asker.Ask(*quantity));
        }
        std::cout << (options.common.json
                          ? JsonOf(study, target, asker.OneSite(), answers).dump(2) + "\n"
                          : TextOf(study, target, asker.OneSite(), answers));
        options.csv.Write([&] {
            return WithChanges(study,
                               JsonOf(study, target, asker.OneSite(), answers).at("answers"));
        });
        return Exit::Done;
    });
}

} // namespace

void
AddRequire(CommandLine& program)
{
    auto options = std::make_shared<RequireCommand>();
    Command command =
        program.Add("require",
                    "how much span, distance or buffer keeps a study near a single site");
    AddStudyOptions(command, options->common);
    AddJobs(command, options->common);
    options->csv.AddTo(command, "quantity");
    command
        .Add("--loss",
             options->loss,
             "throughput that may be lost against one site with the same GPUs, such as 2%")
        .Required();
    std::vector<std::string> words;
    for (const SpanQuantity& quantity : SpanQuantities())
    {
        words.push_back(quantity.word);
    }
    command
        .Add("--of",
             options->of,
             "what to ask for: " + AnyOf(words) +
                 "; several with commas; default: " + AnyOf(kUsual) + ", each by itself")
        .SeparatedByCommas();
    command.Does([options] { return Require(*options); });
}

} // namespace scaleacross
