// SPDX-License-Identifier: GPL-2.0-only

#include "cli/sweep.h"

#include "cli/show/table.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/flip.h"
#include "core/explore/model-error.h"

#include <fmt/core.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace scaleacross
{

namespace
{

/// One value of the sweep with its study.
struct Step
{
    std::string value;
    CommonOptions common;
    Study study;
};

/// Reads the study at every value, so that a wrong one is found before anything runs.
std::vector<Step>
StepsOf(const ExploreOptions& options, std::string& key)
{
    const auto equals = options.sweep.find('=');
    key = options.sweep.substr(0, equals);
    if (equals == std::string::npos || key.empty() || equals + 1 == options.sweep.size())
    {
        throw ConfigError("--sweep " + options.sweep,
                          "this is not KEY=VALUE,VALUE,...",
                          "a path and its values, such as cluster.cross.oversubscription=1,2.8,7",
                          "");
    }
    std::vector<Step> steps;
    std::set<std::string> values;
    std::istringstream list(options.sweep.substr(equals + 1));
    for (std::string value; std::getline(list, value, ',');)
    {
        if (value.empty() || !values.insert(value).second)
        {
            throw ConfigError("--sweep " + options.sweep,
                              value.empty() ? "a value is empty"
                                            : Quoted(value) + " is given twice",
                              "every value once",
                              "");
        }
        Step step{value, options.common, {}};
        step.common.set.push_back(key + "=" + value);
        step.study = StudyOf(step.common);
        step.study.baselines.clear();
        for (const auto& axis : step.study.search)
        {
            if (axis.key == key)
            {
                throw ConfigError("--sweep " + options.sweep,
                                  "search." + key + " sets this for every plan",
                                  "what the study does not search",
                                  "sweep search." + key);
            }
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

std::string
FlipText(const std::string& key, const Flip& flip)
{
    std::string text = fmt::format("{} flips from {} to {} between {} and {}",
                                   key,
                                   NameOf(flip.from),
                                   NameOf(flip.to),
                                   flip.before,
                                   flip.after);
    if (flip.about)
    {
        text += fmt::format(", at about {:.3g} by linear interpolation", *flip.about);
    }
    if (flip.toldApart == false)
    {
        text += "; on neither side the model tells the two apart";
    }
    return text + "\n";
}

/// All points as a table and sentences.
class SweepPrinter
{
  public:
    /// @param crossings those that the search varies
    /// @param measured whether the engine is the one whose errors are known
    SweepPrinter(std::string key, std::vector<Crossing> crossings, bool measured)
        : m_key(std::move(key)),
          m_crossings(std::move(crossings)),
          m_measured(measured),
          m_table(Columns())
    {
    }

    void Add(const Step& step, const SearchSpace& space, const Answer& answer)
    {
        const Leaderboard& board = answer.search.board;
        SweepPoint point{step.value, {}, std::nullopt};
        const auto ofEach = board.BestOfEach();
        for (const auto& ranked : ofEach)
        {
            point.times.emplace_back(ranked.plan.parallel.crossing, ranked.report.iterationTime);
        }
        if (m_measured && ofEach.size() > 1)
        {
            point.probability = ProbabilityFaster({ofEach[0].plan, ofEach[0].report.iterationTime},
                                                  {ofEach[1].plan, ofEach[1].report.iterationTime});
        }
        const auto winner = WinnerAt(point);
        const auto margin = MarginAt(point);
        m_points.push_back(point);
        std::vector<std::string> cells{point.value};
        for (const Crossing& crossing : m_crossings)
        {
            const Ranked* best = board.BestOf(crossing);
            cells.push_back(best == nullptr ? "-" : ToString(best->report.iterationTime));
        }
        cells.push_back(winner ? NameOf(*winner) : "none");
        cells.push_back(margin ? PercentText(*margin) : "-");
        if (m_measured)
        {
            cells.push_back(point.probability ? ProbabilityText(*point.probability) : "-");
        }
        cells.push_back(winner ? space.LabelOf(board.BestOf(*winner)->plan) : "");
        m_table.Add(cells);
        Json json = AnswerJson(step.study, space, answer, 1);
        json["value"] = step.value;
        json["winner"] = winner ? Json(ToString(*winner)) : Json(nullptr);
        json["margin"] = margin ? Json(*margin) : Json(nullptr);
        json["probability"] = point.probability ? Json(*point.probability) : Json(nullptr);
        m_json.push_back(json);
    }

    std::string Text() const
    {
        std::string text = m_table.Text();
        text += m_measured
                    ? "sure: how likely it is that the placement that wins is the faster one\n"
                    : "";
        const auto flips = FlipsOf(m_points);
        for (const auto& flip : flips)
        {
            text += FlipText(m_key, flip);
        }
        if (flips.empty())
        {
            text += "The placement does not flip within these values.\n";
        }
        return text;
    }

    Json ToJson() const
    {
        Json flips = Json::array();
        for (const auto& flip : FlipsOf(m_points))
        {
            flips.push_back(
                {{"before", flip.before},
                 {"after", flip.after},
                 {"from", ToString(flip.from)},
                 {"to", ToString(flip.to)},
                 {"about", flip.about ? Json(*flip.about) : Json(nullptr)},
                 {"told_apart", flip.toldApart ? Json(*flip.toldApart) : Json(nullptr)}});
        }
        return {{"sweep", m_key}, {"values", m_json}, {"flips", flips}};
    }

  private:
    std::vector<Table::Column> Columns() const
    {
        std::vector<Table::Column> columns{{m_key}};
        for (const Crossing& crossing : m_crossings)
        {
            columns.push_back({NameOf(crossing)});
        }
        columns.push_back({"wins", Table::Align::Left});
        columns.push_back({"margin"});
        if (m_measured)
        {
            columns.push_back({"sure"});
        }
        columns.push_back({"best plan", Table::Align::Left});
        return columns;
    }

    std::string m_key;
    std::vector<Crossing> m_crossings;
    bool m_measured;
    Table m_table;
    std::vector<SweepPoint> m_points;
    Json m_json = Json::array();
};

Exit
SweepWith(const ExploreOptions& options,
          const std::string& key,
          const std::vector<Step>& steps,
          const std::vector<SearchSpace>& spaces,
          Database& database)
{
    const auto& stop = CatchInterrupts();
    std::vector<Crossing> crossings;
    for (const SearchSpace& space : spaces)
    {
        for (const auto& value : space.ValuesOf("plan.crossing"))
        {
            const Crossing crossing = Crossing::Parse(value);
            if (std::find(crossings.begin(), crossings.end(), crossing) == crossings.end())
            {
                crossings.push_back(crossing);
            }
        }
    }
    SweepPrinter printer(key, crossings, steps.front().study.engines.front() == kMeasuredEngine);
    bool interrupted = false;
    for (size_t i = 0; i < steps.size() && !interrupted; i++)
    {
        ExploreOptions own = options;
        own.common = steps[i].common;
        const Answer answer = ExploreStudy(steps[i].study, spaces[i], own, database, stop);
        interrupted = answer.search.interrupted;
        if (!interrupted)
        {
            printer.Add(steps[i], spaces[i], answer);
        }
    }
    std::cout << (options.common.json ? printer.ToJson().dump(2) + "\n" : printer.Text());
    if (interrupted)
    {
        std::cerr << "scaleacross: interrupted; the same command goes on from here\n";
        return Exit::Interrupted;
    }
    return Exit::Done;
}

} // namespace

Exit
Sweep(const ExploreOptions& options)
{
    std::string key;
    const std::vector<Step> steps = StepsOf(options, key);
    std::vector<SearchSpace> spaces;
    for (const auto& step : steps)
    {
        spaces.emplace_back(step.study);
    }
    return WithDatabase(options.common, steps.front().study, [&](Database& database) {
        return SweepWith(options, key, steps, spaces, database);
    });
}

} // namespace scaleacross
