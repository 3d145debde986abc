// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/sweep-rows.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

namespace scaleacross
{

namespace
{

/// What is told of the best plan of a placement, and of a baseline.
constexpr std::array<const char*, 8> kOfPlacement = {"plan.label",
                                                     "iteration_time_s",
                                                     "mfu",
                                                     "bubble_fraction",
                                                     "exposed_comm_s",
                                                     "memory_bytes_max",
                                                     "cross_building_bytes",
                                                     "probability_slower"};
constexpr std::array<const char*, 5> kOfBaseline = {"plan.label",
                                                    "iteration_time_s",
                                                    "gain",
                                                    "probability_slower",
                                                    "reason"};
constexpr const char* kWarnings = "warnings";
/// What is told of a search.
constexpr std::array<const char*, 11> kOfSearch = {"space",
                                                   "ran",
                                                   "pruned",
                                                   "rejected",
                                                   "failed",
                                                   "optimal",
                                                   "gap",
                                                   "out_of_time",
                                                   "pareto_of",
                                                   "one_site.iteration_time_s",
                                                   "one_site.spread_overhead"};

/// What stands at "a.b" of a JSON value; null if nothing does.
Json
At(const Json& json, const std::string& way)
{
    const size_t dot = way.find('.');
    const std::string key = way.substr(0, dot);
    if (!json.is_object() || !json.contains(key))
    {
        return nullptr;
    }
    return dot == std::string::npos ? json.at(key) : At(json.at(key), way.substr(dot + 1));
}

/// Adds what is no table of its own, below the name.
void
Add(const std::string& name, const Json& value, Json& row)
{
    if (value.is_object())
    {
        for (const auto& [key, part] : value.items())
        {
            Add(name + "." + key, part, row);
        }
    }
    else if (!value.is_array() && !row.contains(name))
    {
        row[name] = value;
    }
}

/// The columns that are always there, if anything is in them.
Json
HeadOf(const Json& point, const SweptValues& values)
{
    Json row = Json::object();
    for (const auto& [key, value] : values)
    {
        row[key] = value;
    }
    for (const char* key : {"winner", "margin", "probability"})
    {
        Add(key, At(point, key), row);
    }
    const Json placements = At(point, "placements");
    for (const auto& [crossing, plan] : placements.items())
    {
        const std::string name = "placements." + crossing + ".iteration_time_s";
        row[name] = At(plan, "iteration_time_s");
    }
    row["best.plan.label"] = At(point, "best.plan.label");
    const Json best = At(point, "best");
    for (const auto& [key, value] : best.items())
    {
        // How it was measured is the same for all.
        if (value.is_number() && key != "warmup" && key != "iterations")
        {
            row["best." + key] = value;
        }
    }
    return row;
}

/// What comes behind them.
void
AddDetails(const Json& point, Json& row)
{
    Add("best.plan", At(point, "best.plan"), row);
    Add("best.classes", At(point, "best.classes"), row);
    Add("best.network", At(point, "best.network"), row);
    const Json placements = At(point, "placements");
    for (const auto& [crossing, plan] : placements.items())
    {
        for (const char* key : kOfPlacement)
        {
            Add("placements." + crossing + "." + key, At(plan, key), row);
        }
    }
    const Json baselines = At(point, "baselines");
    for (const auto& [name, baseline] : baselines.items())
    {
        for (const char* key : kOfBaseline)
        {
            Add("baselines." + name + "." + key, At(baseline, key), row);
        }
    }
    for (const char* key : kOfSearch)
    {
        Add(key, At(point, key), row);
    }
    // Sentences, of which there are some or none.
    for (const auto& warning : At(point, kWarnings))
    {
        const std::string before = row.contains(kWarnings) ? row[kWarnings].get<std::string>() : "";
        row[kWarnings] = before + (before.empty() ? "" : "; ") + warning.get<std::string>();
    }
}

bool
IsEmpty(const Json& row, const std::string& name)
{
    return !row.contains(name) || row.at(name).is_null() || row.at(name) == "";
}

/// Whether all rows have the same there.
bool
IsSame(const Json& rows, const std::string& name)
{
    return std::all_of(rows.begin(), rows.end(), [&](const Json& row) {
        return IsEmpty(row, name) == IsEmpty(rows.front(), name) &&
               (IsEmpty(row, name) || row.at(name) == rows.front().at(name));
    });
}

} // namespace

Json
SweepRows(const Json& points, const std::vector<SweptValues>& values)
{
    Json rows = Json::array();
    std::set<std::string> head;
    std::vector<std::string> names; // in their order
    const auto note = [&names](const Json& row) {
        for (const auto& [name, value] : row.items())
        {
            if (std::find(names.begin(), names.end(), name) == names.end())
            {
                names.push_back(name);
            }
        }
    };
    for (size_t i = 0; i < points.size(); i++)
    {
        rows.push_back(HeadOf(points[i], values[i]));
        note(rows.back());
    }
    head.insert(names.begin(), names.end());
    for (size_t i = 0; i < points.size(); i++)
    {
        AddDetails(points[i], rows[i]);
        note(rows[i]);
    }
    Json table = Json::array();
    for (size_t i = 0; i < points.size(); i++)
    {
        table.push_back(Json::object());
    }
    for (const std::string& name : names)
    {
        const bool isEmpty = std::all_of(rows.begin(), rows.end(), [&name](const Json& row) {
            return IsEmpty(row, name);
        });
        if (isEmpty ||
            (head.count(name) == 0 && name != kWarnings && rows.size() > 1 && IsSame(rows, name)))
        {
            continue;
        }
        for (size_t i = 0; i < points.size(); i++)
        {
            table[i][name] = IsEmpty(rows[i], name) ? Json(nullptr) : rows[i].at(name);
        }
    }
    return table;
}

std::vector<std::string>
WarningsOfPoints(const Json& points)
{
    std::vector<std::string> warnings;
    for (const Json& point : points)
    {
        for (const Json& warning : At(point, kWarnings))
        {
            const auto text = warning.get<std::string>();
            if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
            {
                warnings.push_back(text);
            }
        }
    }
    return warnings;
}

} // namespace scaleacross
