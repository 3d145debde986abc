// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/held-keys.h"

#include "core/base/text.h"
#include "core/spec/complete-search.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Fields in which a plan lies outside that are told by name.
constexpr size_t g_told = 4;
/// Values of an axis that are told.
constexpr size_t g_values = 4;

bool
IsGiven(const Study& study, const std::string& key)
{
    return std::find(study.given.begin(), study.given.end(), key) != study.given.end();
}

bool
IsSearched(const Study& study, const std::string& key)
{
    return std::any_of(study.search.begin(), study.search.end(), [&key](const SearchAxis& axis) {
        return axis.key == key;
    });
}

/// "plan.tp" as "tp": that it is of the plan goes without saying.
std::string
ShortKey(const std::string& key)
{
    const std::string plan = "plan.";
    return key.rfind(plan, 0) == 0 ? key.substr(plan.size()) : key;
}

/// "1, 2, 4": the first few.
std::string
FirstFew(const std::vector<std::string>& values)
{
    std::string text;
    for (size_t i = 0; i < std::min(values.size(), g_values); i++)
    {
        text += (i == 0 ? "" : ", ") + values[i];
    }
    return text + (values.size() > g_values ? ", ..." : "");
}

/// "plan: {tp: [1, 2, 4]}": a key and values that may be worth it, as `search` has them; the one
/// that is held first, if it is not searched by itself.
std::string
SearchOfOne(const Study& study, const HeldKey& held)
{
    Values values = CompleteValues(study, held.key);
    if (values.size() > g_values)
    {
        values.resize(g_values);
    }
    const bool isKnown = values.size() > 1;
    std::string text = "[" + (isKnown ? FirstFew(values) : held.value + ", ...") + "]";
    size_t end = held.key.size();
    std::string close;
    for (size_t dot = held.key.rfind('.', end - 1); dot != std::string::npos;
         dot = dot == 0 ? std::string::npos : held.key.rfind('.', dot - 1))
    {
        text = "{" + held.key.substr(dot + 1, end - dot - 1) + ": " + text + "}";
        end = dot;
    }
    return held.key.substr(0, end) + ": " + text;
}

} // namespace

std::vector<HeldKey>
HeldKeys(const Study& study)
{
    const Plan plan{study.scenario.Job().plan, study.scenario.network};
    std::vector<HeldKey> held;
    for (const PlanField& field : PlanFields())
    {
        if (IsGiven(study, field.key) && !IsSearched(study, field.key))
        {
            held.push_back({field.key, field.get(plan)});
        }
    }
    return held;
}

std::string
HeldText(const Study& study)
{
    const auto held = HeldKeys(study);
    if (held.empty())
    {
        return "";
    }
    std::vector<std::string> names;
    for (const HeldKey& one : held)
    {
        names.push_back(ShortKey(one.key) + " " + one.value);
    }
    const bool isOne = held.size() == 1;
    const std::string keys = isOne ? "this key" : "these keys";
    std::string text = "Held, since the study gives " + keys + " and no `search` names " +
                       (isOne ? "it: " : "them: ") + AllOf(names) + ". ";
    const std::string example = SearchOfOne(study, held.front());
    if (study.searchesRest)
    {
        return text + "To have " + (isOne ? "it" : "them") + " searched as all else is, leave " +
               (isOne ? "it" : "them") + " out, or write values, such as search: {" + example +
               ", rest: auto}.";
    }
    return text + "To have one searched, name it with its values, such as search: {" + example +
           "}.";
}

std::vector<FieldOutside>
FieldsOutside(const Study& study, const SearchSpace& space, const Plan& plan)
{
    std::vector<FieldOutside> outside;
    for (const std::string& key : space.KeysOutside(plan))
    {
        using Why = FieldOutside::Why;
        outside.push_back({key,
                           FindPlanField(key)->get(plan),
                           IsSearched(study, key) ? Why::Listed
                           : IsGiven(study, key)  ? Why::Held
                                                  : Why::Unnamed,
                           space.ValuesOf(key)});
    }
    return outside;
}

std::string
OutsideText(const std::vector<FieldOutside>& fields)
{
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::min(fields.size(), g_told); i++)
    {
        const FieldOutside& field = fields[i];
        const std::string values = FirstFew(field.values);
        texts.push_back(ShortKey(field.key) + " " + field.value + " (" +
                        (field.why == FieldOutside::Why::Held     ? "held at " + values
                         : field.why == FieldOutside::Why::Listed ? "search has " + values
                                                                  : "not searched: " + values) +
                        ")");
    }
    if (fields.size() > g_told)
    {
        texts.push_back(std::to_string(fields.size() - g_told) + " more");
    }
    return AllOf(texts);
}

} // namespace scaleacross
