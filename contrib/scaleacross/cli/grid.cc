// SPDX-License-Identifier: GPL-2.0-only

#include "cli/grid.h"

#include "cli/study-settings.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/cluster-part.h"

#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

/// More than anybody waits for; a slip such as a list that is pasted twice should not begin.
constexpr size_t kMostPoints = 10000;

SweepAxis
AxisOf(const std::string& text)
{
    SweepAxis axis;
    const auto equals = text.find('=');
    axis.key = text.substr(0, equals);
    if (equals == std::string::npos || axis.key.empty() || equals + 1 == text.size())
    {
        throw ConfigError("--sweep " + text,
                          "this is not KEY=VALUE,VALUE,...",
                          "a path and its values, such as cluster.cross.oversubscription=1,2.8,7",
                          "");
    }
    std::set<std::string> values;
    for (const std::string& value : ListParts(text.substr(equals + 1)))
    {
        if (value.empty() || !values.insert(value).second)
        {
            throw ConfigError("--sweep " + text,
                              value.empty() ? "a value is empty"
                                            : Quoted(value) + " is given twice",
                              "every value once",
                              "");
        }
        axis.values.push_back(value);
    }
    return axis;
}

/// Throws ConfigError where --set says what a sweep does, too, and would be forgotten.
void
ExpectNotSet(const std::string& sweep, const SweepAxis& axis, const CommonOptions& common)
{
    for (const std::string& set : common.set)
    {
        const std::string key = set.substr(0, set.find('='));
        if (key == axis.key || key.rfind(axis.key + ".", 0) == 0)
        {
            throw ConfigError("--sweep " + sweep,
                              "--set " + set + " says it, too",
                              "every setting by one of the two",
                              "leave the --set out, or the sweep");
        }
    }
}

/// The study of a point. Where it is the value of a sweep that is refused, that is said of the
/// sweep, which alone the user has written.
Study
AsSweep(const std::vector<std::string>& sweeps, const std::function<Study()>& read)
{
    try
    {
        return read();
    }
    catch (const ConfigError& error)
    {
        for (const std::string& sweep : sweeps)
        {
            const std::string set = "--set " + sweep.substr(0, sweep.find('=') + 1);
            if (error.Where().rfind(set, 0) == 0)
            {
                throw ConfigError("--sweep " + error.Where().substr(std::string("--set ").size()),
                                  error.Problem(),
                                  error.Allowed(),
                                  error.Remedy());
            }
        }
        throw;
    }
}

/// The values of an axis; with cluster.use=auto all parts of the cluster that differ and that the
/// plan fits; what is left out is told. `told`: what other axes set may tell buildings apart.
SweepAxis
Expanded(SweepAxis axis, const CommonOptions& common, bool told)
{
    if (axis.key != kPartsKey || axis.values != std::vector<std::string>{"auto"})
    {
        return axis;
    }
    const auto with = [&common](const std::string& part) {
        CommonOptions set = common;
        set.set.push_back(std::string(kPartsKey) + "=" + part);
        return set;
    };
    const Scenario whole = StudyOf(with("all"), StudyScope::Network).scenario;
    axis.values.clear();
    std::optional<ConfigError> refused;
    for (const std::string& part :
         PartsOf(whole.cluster, told || !whole.events.empty(), kMostPoints + 1))
    {
        try
        {
            StudyOf(with(part));
            axis.values.push_back(part);
        }
        catch (const ConfigError& error)
        {
            std::cerr << "scaleacross: " << part << " is left out: " << error.Problem() << "\n";
            refused = refused.value_or(error);
        }
    }
    if (axis.values.empty())
    {
        throw ConfigError(refused.value());
    }
    return axis;
}

/// Throws ConfigError where two values of an axis give the same study everywhere, such as 1km and
/// 1000m: that would be the same question twice, and a flip between them none.
void
RefuseSameValues(const std::vector<std::string>& sweeps,
                 const std::vector<SweepAxis>& axes,
                 const std::vector<GridPoint>& points)
{
    std::vector<size_t> meanings; // of every point, equal ones where they mean the same
    std::map<std::string, size_t> known;
    for (const GridPoint& point : points)
    {
        Study study = point.study;
        study.uncertain.reset(); // of which no point asks
        meanings.push_back(known.emplace(MeaningOf(study).search, known.size()).first->second);
    }
    size_t apart = points.size(); // points between two values of the axis
    for (size_t a = 0; a < axes.size(); a++)
    {
        const std::vector<std::string>& values = axes[a].values;
        apart /= values.size();
        std::map<std::vector<size_t>, std::string> first;
        for (size_t v = 0; v < values.size(); v++)
        {
            std::vector<size_t> all;
            for (size_t s = 0; s < points.size(); s++)
            {
                if (s / apart % values.size() == v)
                {
                    all.push_back(meanings[s]);
                }
            }
            const auto [same, isNew] = first.emplace(std::move(all), values[v]);
            if (!isNew)
            {
                throw ConfigError("--sweep " + sweeps[a],
                                  Quoted(same->second) + " and " + Quoted(values[v]) +
                                      " make the same study",
                                  "every value once",
                                  "leave one of them out");
            }
        }
    }
}

} // namespace

std::vector<SweepAxis>
AxesOf(const CommonOptions& common, const std::vector<std::string>& sweeps)
{
    std::vector<SweepAxis> axes;
    size_t count = 1;
    for (const std::string& text : sweeps)
    {
        SweepAxis axis = AxisOf(text);
        ExpectNotSet(text, axis, common);
        axis = Expanded(std::move(axis), common, sweeps.size() > 1);
        for (const SweepAxis& other : axes)
        {
            if (other.key == axis.key)
            {
                throw ConfigError("--sweep " + text,
                                  "there is another sweep of " + axis.key,
                                  "every setting once",
                                  "give all of its values in one --sweep");
            }
        }
        count *= axis.values.size();
        if (count > kMostPoints)
        {
            throw ConfigError("--sweep " + text,
                              "with this the grid has " + std::to_string(count) + " points or more",
                              "up to " + std::to_string(kMostPoints),
                              "give fewer values");
        }
        axes.push_back(std::move(axis));
    }
    return axes;
}

std::vector<GridPoint>
GridOf(const CommonOptions& common,
       const std::vector<std::string>& sweeps,
       const std::vector<SweepAxis>& axes)
{
    std::vector<GridPoint> points{{{}, common, {}}};
    for (const SweepAxis& axis : axes)
    {
        std::vector<GridPoint> more;
        for (const GridPoint& before : points)
        {
            for (const std::string& value : axis.values)
            {
                GridPoint point = before;
                point.values.push_back(value);
                point.common.set.push_back(axis.key + "=" + value);
                more.push_back(std::move(point));
            }
        }
        points = std::move(more);
    }
    SettingsFinder settings;
    for (GridPoint& point : points)
    {
        point.study = AsSweep(sweeps, [&] { return StudyWithoutSettings(point.common); });
        point.study.settings = settings.Find(point.common, point.study);
        for (const auto& searched : point.study.search)
        {
            for (size_t i = 0; i < axes.size(); i++)
            {
                if (searched.key == axes[i].key)
                {
                    throw ConfigError("--sweep " + sweeps[i],
                                      "search." + axes[i].key + " sets this for every plan",
                                      "what the study does not search",
                                      "sweep search." + axes[i].key);
                }
            }
        }
    }
    RefuseSameValues(sweeps, axes, points);
    return points;
}

} // namespace scaleacross
