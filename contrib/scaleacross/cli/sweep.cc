// SPDX-License-Identifier: GPL-2.0-only

#include "cli/sweep.h"

#include "cli/break-even-map.h"
#include "cli/output-file.h"
#include "cli/show/ranking-columns.h"
#include "cli/show/report-text.h"
#include "cli/show/sweep-rows.h"
#include "cli/show/table.h"
#include "cli/study-settings.h"
#include "cli/workers/interrupt.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/flip.h"
#include "core/explore/model-error.h"
#include "core/spec/cluster-part.h"
#include "core/spec/study-json.h"
#include "core/store/sweep-store.h"

#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace scaleacross
{

namespace
{

/// All points as a table and sentences.
class SweepPrinter
{
  public:
    /// @param crossings those that the search varies
    /// @param measured whether the engine is the one whose errors are known
    /// @param priced whether the study has prices at some point
    SweepPrinter(std::string key,
                 size_t points,
                 std::vector<Crossing> crossings,
                 bool measured,
                 bool priced)
        : m_key(std::move(key)),
          m_size(points),
          m_crossings(std::move(crossings)),
          m_measured(measured),
          m_priced(priced),
          m_table(Columns())
    {
    }

    void Add(const GridPoint& step, const SearchSpace& space, const Answer& answer)
    {
        const Leaderboard& board = answer.search.board;
        const SweepPoint point = PointOf(step.values.front(), answer, m_measured);
        const auto winner = WinnerAt(point);
        const auto margin = MarginAt(point);
        m_points.push_back(point);
        const auto ofEach = board.BestOfEach();
        if (!ofEach.empty())
        {
            const RunReport& report = ofEach.front().report;
            m_times.emplace_back(report.iterationTime, point.value);
            m_gpuHours.emplace_back(Objective("gpu-hours")->value(report, answer.goals.rates),
                                    point.value);
        }
        std::vector<std::string> cells{point.value};
        for (const Crossing& crossing : m_crossings)
        {
            const Ranked* best = board.BestOf(crossing);
            cells.push_back(best == nullptr ? "-" : ToString(best->report.iterationTime));
        }
        cells.push_back(winner ? NameOf(*winner) : ofEach.empty() ? "none" : kNothingCrosses);
        cells.push_back(margin ? PercentText(*margin) : "-");
        if (m_measured)
        {
            cells.push_back(point.probability ? ProbabilityText(*point.probability) : "-");
        }
        for (const std::string& amount : CostsOf(answer))
        {
            cells.push_back(amount);
        }
        cells.push_back(ofEach.empty() ? "" : space.LabelOf(ofEach.front().plan));
        m_table.Add(cells);
        m_json.push_back(PointJson(point, step.study, space, answer));
    }

    /// For --csv.
    Json Rows() const
    {
        std::vector<SweptValues> values;
        for (const SweepPoint& point : m_points)
        {
            values.push_back({{m_key, point.value}});
        }
        return SweepRows(m_json, values);
    }

    std::string Text() const
    {
        std::string text = m_table.Text();
        text += m_measured
                    ? "sure: how likely it is that the placement that wins is the faster one\n"
                    : "";
        const auto flips = FlipsAlong(m_key, m_points);
        for (const auto& flip : flips)
        {
            text += FlipText(m_key, flip);
        }
        const bool done = m_points.size() == m_size;
        if (flips.empty() && IsLine() && (done || AreCompared(m_points)))
        {
            text += done ? "The placement does not flip within these values.\n"
                         : "The placement does not flip within the values so far.\n";
        }
        return text + LeastText() + WarningText(WarningsOfPoints(m_json)) +
               DoneText(m_points.size(), m_size);
    }

    Json ToJson() const
    {
        Json flips = Json::array();
        for (const auto& flip : FlipsAlong(m_key, m_points))
        {
            flips.push_back(FlipJson(flip));
        }
        return {{"sweep", m_key},
                {"values", m_json},
                {"flips", flips},
                {"fastest", m_times.empty() ? Json(nullptr) : Json(LeastOf(m_times).second)},
                {"fewest_gpu_hours",
                 m_gpuHours.empty() ? Json(nullptr) : Json(LeastOf(m_gpuHours).second)},
                {"interrupted", m_points.size() < m_size}};
    }

  private:
    /// Whether there is anything between two values.
    bool IsLine() const
    {
        std::vector<std::string> values;
        for (const SweepPoint& point : m_points)
        {
            values.push_back(point.value);
        }
        return m_key != kPartsKey && ScaleOf(values);
    }

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
        if (m_priced)
        {
            columns.push_back({"cost"});
            columns.push_back({"for 1e12"});
        }
        columns.push_back({"best plan", Table::Align::Left});
        return columns;
    }

    /// Of the best plan, by the prices at the point; nothing where no point has any.
    std::vector<std::string> CostsOf(const Answer& answer) const
    {
        const auto best = answer.search.board.BestOfEach();
        if (!m_priced)
        {
            return {};
        }
        return best.empty() ? std::vector<std::string>{"-", "-"}
                            : CostTexts(best.front().report, answer.goals.rates);
    }

    /// The first of the least. Domain: there is one.
    template <class Amount>
    static const std::pair<Amount, std::string>& LeastOf(
        const std::vector<std::pair<Amount, std::string>>& amounts)
    {
        return *std::min_element(amounts.begin(), amounts.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
    }

    /// At which values an iteration takes the least time, and the fewest GPU-hours; nothing for
    /// fewer than two that have plans.
    std::string LeastText() const
    {
        if (m_times.size() < 2)
        {
            return "";
        }
        const auto time = LeastOf(m_times);
        const auto hours = LeastOf(m_gpuHours);
        return fmt::format("Fastest at {}={}: {} per iteration. Fewest GPU-hours at {}={}: {:.4g} "
                           "per iteration.\n",
                           m_key,
                           time.second,
                           ToString(time.first),
                           m_key,
                           hours.second,
                           hours.first);
    }

    std::string m_key;
    std::vector<std::pair<Duration, std::string>> m_times; //!< with the values, as the next
    std::vector<std::pair<double, std::string>> m_gpuHours;
    size_t m_size; //!< points of the whole sweep
    std::vector<Crossing> m_crossings;
    bool m_measured;
    bool m_priced;
    Table m_table;
    std::vector<SweepPoint> m_points;
    Json m_json = Json::array();
};

/// The crossings that the searches vary.
std::vector<Crossing>
CrossingsOf(const std::vector<SearchSpace>& spaces)
{
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
    return crossings;
}

/// The axes as a database has them (SweepStore).
Json
AxesJson(const std::vector<SweepAxis>& axes)
{
    Json json = Json::array();
    for (const SweepAxis& axis : axes)
    {
        const auto scale = axis.key == kPartsKey ? std::nullopt : ScaleOf(axis.values);
        json.push_back({{"key", axis.key},
                        {"values", axis.values},
                        {"numbers", scale ? Json(scale->numbers) : Json(nullptr)},
                        {"unit", scale ? Json(scale->unit) : Json(nullptr)}});
    }
    return json;
}

/// Explores every point and hands it over; false where it was interrupted.
bool
ExploreAll(const ExploreOptions& options,
           const std::vector<SweepAxis>& axes,
           const std::vector<GridPoint>& steps,
           const std::vector<SearchSpace>& spaces,
           Database& database,
           const std::function<void(const GridPoint&, const SearchSpace&, const Answer&)>& add)
{
    const auto& stop = CatchInterrupts();
    const auto optionsOf = [&](size_t point) {
        ExploreOptions own = options;
        own.common = steps[point].common;
        return own;
    };
    std::vector<std::string> searches;
    for (size_t i = 0; i < steps.size(); i++)
    {
        searches.push_back(SearchNameOf(steps[i].study, spaces[i], optionsOf(i)));
    }
    SweepStore store(database, steps.front().study.name, AxesJson(axes).dump(), searches);
    for (size_t i = 0; i < steps.size(); i++)
    {
        ExploreOptions own = optionsOf(i);
        own.turn = fmt::format("{} of {}", i + 1, steps.size());
        const Answer answer = ExploreStudy(steps[i].study, spaces[i], own, database, stop);
        if (answer.search.interrupted)
        {
            return false;
        }
        store.Add(answer.id);
        add(steps[i], spaces[i], answer);
    }
    return true;
}

/// Below what heads it.
template <class Printer>
void
PrintSweep(const ExploreOptions& options,
           const std::vector<SweepAxis>& axes,
           const std::vector<GridPoint>& steps,
           const Printer& printer)
{
    if (!options.common.json)
    {
        std::cout << SweepTitle(axes, steps) << printer.Text();
        return;
    }
    Json json = SweepTitleJson(axes, steps);
    json.update(printer.ToJson());
    std::cout << json.dump(2) << "\n";
}

Exit
Interrupt()
{
    std::cerr << "scaleacross: interrupted; the same command goes on from here\n";
    return Exit::Interrupted;
}

Exit
SweepOne(const ExploreOptions& options,
         const std::vector<SweepAxis>& axes,
         const std::vector<GridPoint>& steps,
         const std::vector<SearchSpace>& spaces,
         Database& database)
{
    const bool measured = steps.front().study.engines.front() == kMeasuredEngine;
    const bool priced = std::any_of(steps.begin(), steps.end(), [](const GridPoint& step) {
        return step.study.prices.has_value();
    });
    SweepPrinter printer(axes.front().key, steps.size(), CrossingsOf(spaces), measured, priced);
    const bool done = ExploreAll(options,
                                 axes,
                                 steps,
                                 spaces,
                                 database,
                                 [&](const auto& step, const auto& space, const auto& answer) {
                                     printer.Add(step, space, answer);
                                 });
    PrintSweep(options, axes, steps, printer);
    options.csv.Write([&printer] { return printer.Rows(); });
    return done ? Exit::Done : Interrupt();
}

Exit
SweepGrid(const ExploreOptions& options,
          const std::vector<SweepAxis>& axes,
          const std::vector<GridPoint>& steps,
          const std::vector<SearchSpace>& spaces,
          Database& database)
{
    BreakEvenMap map(axes, steps.front().study.engines.front() == kMeasuredEngine);
    const bool done = ExploreAll(options,
                                 axes,
                                 steps,
                                 spaces,
                                 database,
                                 [&](const auto& step, const auto& space, const auto& answer) {
                                     map.Add(step.values, step.study, space, answer);
                                 });
    PrintSweep(options, axes, steps, map);
    options.csv.Write([&map] { return map.Rows(); });
    return done ? Exit::Done : Interrupt();
}

} // namespace

SweepPoint
PointOf(const std::string& value, const Answer& answer, bool measured)
{
    SweepPoint point{value, {}, std::nullopt};
    const auto ofEach = answer.search.board.BestOfEach();
    point.crosses = !ofEach.empty() && ofEach.front().report.crossBuildingBytes > Bytes();
    for (const auto& ranked : ofEach)
    {
        point.times.emplace_back(ranked.plan.parallel.crossing, ranked.report.iterationTime);
    }
    if (measured && point.crosses && ofEach.size() > 1)
    {
        point.probability = ProbabilityFaster({ofEach[0].plan, ofEach[0].report.iterationTime},
                                              {ofEach[1].plan, ofEach[1].report.iterationTime});
    }
    return point;
}

Json
PointJson(const SweepPoint& point,
          const Study& study,
          const SearchSpace& space,
          const Answer& answer)
{
    const auto winner = WinnerAt(point);
    const auto margin = MarginAt(point);
    Json json = AnswerJson(study, space, answer, 1);
    json["value"] = point.value;
    json["winner"] = winner ? Json(ToString(*winner)) : Json(nullptr);
    json["margin"] = margin ? Json(*margin) : Json(nullptr);
    json["probability"] = point.probability ? Json(*point.probability) : Json(nullptr);
    return json;
}

std::vector<Flip>
FlipsAlong(const std::string& key, const std::vector<SweepPoint>& points)
{
    return key == kPartsKey ? std::vector<Flip>() : FlipsOf(points);
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
        text +=
            fmt::format(", at about {} by linear interpolation", flip.scale.TextOf(*flip.about));
    }
    if (flip.toldApart == false)
    {
        text += "; on neither side the model tells the two apart";
    }
    return text + "\n";
}

Json
FlipJson(const Flip& flip)
{
    // A number where the values are numbers, a text with a unit where they have one.
    const Json about = !flip.about               ? Json(nullptr)
                       : flip.scale.unit.empty() ? Json(*flip.about)
                                                 : Json(flip.scale.TextOf(*flip.about));
    return {{"before", flip.before},
            {"after", flip.after},
            {"from", ToString(flip.from)},
            {"to", ToString(flip.to)},
            {"about", about},
            {"told_apart", flip.toldApart ? Json(*flip.toldApart) : Json(nullptr)}};
}

bool
AreCompared(const std::vector<SweepPoint>& points)
{
    return std::count_if(points.begin(), points.end(), [](const SweepPoint& point) {
               return WinnerAt(point).has_value();
           }) > 1;
}

namespace
{

/// What all points have set, beside the axes.
std::vector<StudySetting>
SharedSettings(const std::vector<SweepAxis>& axes, const std::vector<GridPoint>& points)
{
    std::vector<StudySetting> shared;
    for (const GridPoint& point : points)
    {
        for (const StudySetting& setting : point.study.settings)
        {
            const auto isAxis = [&setting](const SweepAxis& axis) {
                return axis.key == setting.key;
            };
            const auto isKnown = [&setting](const StudySetting& other) {
                return other.key == setting.key;
            };
            if (std::none_of(axes.begin(), axes.end(), isAxis) &&
                std::none_of(shared.begin(), shared.end(), isKnown))
            {
                shared.push_back(setting);
            }
        }
    }
    return shared;
}

/// "cluster.cross.distance=30km, network.qps=8".
std::string
PointText(const std::vector<SweepAxis>& axes, const GridPoint& point)
{
    std::string text;
    for (size_t i = 0; i < axes.size(); i++)
    {
        text += (i == 0 ? "" : ", ") + (axes[i].key + "=" + point.values[i]);
    }
    return text;
}

} // namespace

std::string
SweepTitle(const std::vector<SweepAxis>& axes, const std::vector<GridPoint>& points)
{
    Study study;
    study.name = points.front().study.name;
    study.settings = SharedSettings(axes, points);
    std::string text = TitleOf(study) + ", swept over";
    for (const SweepAxis& axis : axes)
    {
        text += (&axis == &axes.front() ? " " : " and ") + axis.key;
    }
    text += "\n";
    for (const GridPoint& point : points)
    {
        if (IsAsWritten(point.study))
        {
            text += PointText(axes, point) + " is what the study says: this point is its search\n";
        }
    }
    return text + "\n";
}

Json
SweepTitleJson(const std::vector<SweepAxis>& axes, const std::vector<GridPoint>& points)
{
    Json json = {{"study", points.front().study.name},
                 {"settings", SettingsJson(SharedSettings(axes, points))},
                 {"as_written", nullptr}};
    for (const GridPoint& point : points)
    {
        for (size_t i = 0; i < axes.size() && IsAsWritten(point.study); i++)
        {
            json["as_written"][axes[i].key] = point.values[i];
        }
    }
    return json;
}

std::string
DoneText(size_t done, size_t points)
{
    return done == points ? "" : fmt::format("So far: {} of {} points.\n", done, points);
}

Exit
Sweep(const ExploreOptions& options)
{
    const std::vector<SweepAxis> axes = AxesOf(options.common, options.sweeps);
    std::vector<GridPoint> steps = GridOf(options.common, options.sweeps, axes);
    for (GridPoint& step : steps)
    {
        ExpectOwnRanking(step.study);
        GoalsOf(options, step.study);
        step.study.baselines.clear();
    }
    std::vector<SearchSpace> spaces;
    for (const auto& step : steps)
    {
        spaces.emplace_back(step.study);
    }
    ExpectDatabase(DatabasePathOf(options.common, steps.front().study));
    options.csv.Expect();
    return WithDatabase(options.common, steps.front().study, [&](Database& database) {
        return axes.size() == 1 ? SweepOne(options, axes, steps, spaces, database)
                                : SweepGrid(options, axes, steps, spaces, database);
    });
}

} // namespace scaleacross
