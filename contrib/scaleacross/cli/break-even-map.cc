// SPDX-License-Identifier: GPL-2.0-only

#include "cli/break-even-map.h"

#include "cli/show/report-text.h"
#include "cli/show/sweep-rows.h"
#include "cli/show/table.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <fmt/core.h>

namespace scaleacross
{

namespace
{

/// "DP-out 3.5 %", with a question mark where the model does not tell the two apart.
std::string
CellOf(const SweepPoint& point)
{
    const auto winner = WinnerAt(point);
    if (!winner)
    {
        return point.times.empty() ? "none" : kNothingCrosses;
    }
    const auto margin = MarginAt(point);
    const bool doubtful = margin && point.probability && *point.probability < kSure;
    return NameOf(*winner) + (margin ? " " + PercentText(*margin) : " alone") +
           (doubtful ? " ?" : "");
}

} // namespace

BreakEvenMap::BreakEvenMap(std::vector<SweepAxis> axes, bool measured)
    : m_axes(std::move(axes)),
      m_measured(measured)
{
}

void
BreakEvenMap::Add(const std::vector<std::string>& values,
                  const Study& study,
                  const SearchSpace& space,
                  const Answer& answer)
{
    const SweepPoint point = PointOf(values.back(), answer, m_measured);
    Json at = Json::object();
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        at[m_axes[i].key] = values[i];
    }
    Json json = {{"at", at}};
    json.update(PointJson(point, study, space, answer));
    json.erase("value"); // `at` has all of them
    m_json.push_back(json);
    m_values.push_back(values);
    m_points.push_back(point);
}

std::vector<SweepPoint>
BreakEvenMap::RowFrom(size_t first) const
{
    const auto begin = m_points.begin() + static_cast<std::ptrdiff_t>(first);
    const size_t there = std::min(m_axes.back().values.size(), m_points.size() - first);
    return {begin, begin + static_cast<std::ptrdiff_t>(there)};
}

Json
BreakEvenMap::Rows() const
{
    std::vector<SweptValues> values;
    for (const auto& point : m_values)
    {
        SweptValues& own = values.emplace_back();
        for (size_t i = 0; i < m_axes.size(); i++)
        {
            own.emplace_back(m_axes[i].key, point[i]);
        }
    }
    return SweepRows(m_json, values);
}

size_t
BreakEvenMap::Size() const
{
    size_t size = 1;
    for (const SweepAxis& axis : m_axes)
    {
        size *= axis.values.size();
    }
    return size;
}

/// "A=1, B=2" of some of a point's settings.
std::string
BreakEvenMap::PlaceOf(size_t point, size_t from, size_t to) const
{
    std::string text;
    for (size_t i = from; i < to; i++)
    {
        text += (text.empty() ? "" : ", ") + m_axes[i].key + "=" + m_values[point][i];
    }
    return text;
}

std::string
BreakEvenMap::Text() const
{
    const size_t others = m_axes.size() - 2;
    const SweepAxis& down = m_axes[others];
    const SweepAxis& right = m_axes.back();
    const size_t width = right.values.size();
    const size_t size = down.values.size() * width;
    std::string text;
    for (size_t first = 0; first < m_points.size(); first += size)
    {
        text += others > 0 ? PlaceOf(first, 0, others) + "\n" : "";
        std::vector<Table::Column> columns{{down.key}};
        for (const std::string& value : right.values)
        {
            columns.push_back({value});
        }
        Table table(columns);
        for (size_t row = first; row < std::min(first + size, m_points.size()); row += width)
        {
            std::vector<std::string> cells{m_values[row][others]};
            for (const SweepPoint& point : RowFrom(row))
            {
                cells.push_back(CellOf(point));
            }
            cells.resize(1 + width, "not done");
            table.Add(cells);
        }
        text += table.Text() + "\n";
    }
    text += fmt::format("to the right: {}; in every cell the placement that wins, and how much "
                        "longer the best plan of the next takes{}\n",
                        right.key,
                        m_measured ? fmt::format("; ?: less than {:g} % sure", 100 * kSure) : "");
    const bool done = m_points.size() == Size();
    bool flips = false;
    bool compared = done;
    for (size_t row = 0; row < m_points.size(); row += width)
    {
        compared = compared || AreCompared(RowFrom(row));
        for (const Flip& flip : FlipsAlong(right.key, RowFrom(row)))
        {
            text += PlaceOf(row, 0, others + 1) + ": " + FlipText(right.key, flip);
            flips = true;
        }
    }
    return text +
           (flips || !compared || right.key == kPartsKey || !ScaleOf(right.values)
                ? ""
                : "The placement does not flip along " + right.key +
                      (done ? ".\n" : " so far.\n")) +
           WarningText(WarningsOfPoints(m_json)) + DoneText(m_points.size(), Size());
}

Json
BreakEvenMap::ToJson() const
{
    Json sweeps = Json::array();
    for (const SweepAxis& axis : m_axes)
    {
        sweeps.push_back({{"key", axis.key}, {"values", axis.values}});
    }
    Json flips = Json::array();
    for (size_t row = 0; row < m_points.size(); row += m_axes.back().values.size())
    {
        for (const Flip& flip : FlipsAlong(m_axes.back().key, RowFrom(row)))
        {
            Json at = m_json[row].at("at");
            at.erase(m_axes.back().key);
            Json json = {{"at", at}, {"along", m_axes.back().key}};
            json.update(FlipJson(flip));
            flips.push_back(json);
        }
    }
    return {{"sweeps", sweeps},
            {"points", m_json},
            {"flips", flips},
            {"interrupted", m_points.size() < Size()}};
}

} // namespace scaleacross
