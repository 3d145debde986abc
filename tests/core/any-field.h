// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ANY_FIELD_H
#define SCALEACROSS_ANY_FIELD_H

#include "core/base/errors.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A field of any table as one of a scenario.
struct AnyField
{
    std::string path; //!< "model.layers", "cluster.buildings.0.fabric.spines", "events.0.at"
    std::string allowed;
    std::string help;
    bool label;
    std::vector<std::string> words;
    /// Throws ConfigError.
    std::function<void(Scenario&, const std::string&)> set;
    std::function<std::string(const Scenario&)> get;
    /// Whether it means anything there.
    std::function<bool(const Scenario&)> applies;
};

/// Adds the fields of the table of what `part` finds in a scenario.
template <class Part>
void
AddFields(std::vector<AnyField>& all, const std::string& path, Part part)
{
    using Owner = std::decay_t<decltype(part(std::declval<Scenario&>()))>;
    for (const auto& field : Owner::Fields())
    {
        all.push_back(
            {path + "." + field.key,
             field.allowed,
             field.help,
             field.label,
             field.words,
             [&field, part](Scenario& s, const std::string& text) { field.set(part(s), text); },
             [&field, part](const Scenario& s) { return field.get(part(s)); },
             [&field, part](const Scenario& s) { return field.applies(part(s)); }});
    }
}

/// Every field of every table. Domain of what they are given: a scenario with a building, a span
/// and an event.
inline std::vector<AnyField>
AllFields()
{
    std::vector<AnyField> all;
    AddFields(
        all,
        "model",
        [](auto& s) -> auto& { return s.Job().model; });
    AddFields(
        all,
        "workload",
        [](auto& s) -> auto& { return s.Job().workload; });
    AddFields(
        all,
        "workload.stack",
        [](auto& s) -> auto& { return s.Job().workload.stack; });
    const std::string building = "cluster.buildings.0";
    AddFields(
        all,
        building,
        [](auto& s) -> auto& { return s.cluster.buildings[0]; });
    AddFields(
        all,
        building + ".gpu",
        [](auto& s) -> auto& { return s.cluster.buildings[0].gpu; });
    AddFields(
        all,
        building + ".fabric",
        [](auto& s) -> auto& { return s.cluster.buildings[0].fabric; });
    AddFields(
        all,
        "cluster.links.0",
        [](auto& s) -> auto& { return s.cluster.crossLinks[0]; });
    AddFields(
        all,
        "events.0",
        [](auto& s) -> auto& { return s.events[0]; });
    const auto planOf = [](const Scenario& s) { return Plan{s.Job().plan, s.network}; };
    for (const auto& field : PlanFields())
    {
        all.push_back({field.key,
                       field.allowed,
                       field.help,
                       field.label,
                       field.words,
                       [&field, planOf](Scenario& s, const std::string& text) {
                           Plan plan = planOf(s);
                           field.set(plan, text);
                           s.Job().plan = plan.parallel;
                           s.network = plan.network;
                       },
                       [&field, planOf](const Scenario& s) { return field.get(planOf(s)); },
                       [&field, planOf](const Scenario& s) { return field.applies(planOf(s)); }});
    }
    return all;
}

/// Texts of which every field accepts some.
inline std::vector<std::string>
TextsFor(const AnyField& field)
{
    std::vector<std::string> texts = field.words;
    texts.insert(texts.end(),
                 {"0",        "1",        "2",          "3",          "16",        "64",
                  "512",      "8192",     "0.01",       "0.15",       "0.5",       "1.5",
                  "true",     "false",    "0s",         "7ns",        "17us",      "1ms",
                  "20ms",     "512B",     "64KiB",      "256KiB",     "1MiB",      "33MiB",
                  "7GiB",     "90GiB",    "1.25Gbps",   "401Gbps",    "12Tbps",    "0.1km",
                  "31km",     "1TFLOP/s", "3.3TFLOP/s", "128x64 0.7", "256x128 1", "pp",
                  "split",    "same",     "a name",     "plane 0",    "a--b",      "a/leaf0",
                  "a/spine1", "moe+norm"});
    return texts;
}

} // namespace scaleacross

#endif // SCALEACROSS_ANY_FIELD_H
