// SPDX-License-Identifier: GPL-2.0-only

#include "cli/study-settings.h"

#include "core/base/errors.h"
#include "core/spec/study-json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

std::string
UncertainText(const UncertainSpec& uncertain)
{
    std::string text;
    for (const Field<UncertainSpec>& field : UncertainSpec::Fields())
    {
        text += field.get(uncertain) + "\n";
    }
    for (const UncertainSpec::Figure& figure : uncertain.figures)
    {
        text += figure.key + "\n";
        for (const Field<SpreadSpec>& field : SpreadSpec::Fields())
        {
            text += field.get(figure.spread) + "\n";
        }
    }
    return text;
}

/// All --set but those of a key.
std::vector<std::string>
Without(const std::vector<std::string>& set, const std::string& key)
{
    std::vector<std::string> others;
    std::copy_if(set.begin(), set.end(), std::back_inserter(others), [&key](const auto& text) {
        return text.substr(0, text.find('=')) != key;
    });
    return others;
}

} // namespace

StudyMeaning
MeaningOf(const Study& study)
{
    StudyMeaning meaning;
    meaning.rest = study.name + "\n";
    for (const std::string& baseline : study.baselines)
    {
        meaning.rest += baseline + "\n";
    }
    for (const std::string& engine : study.engines)
    {
        (&engine == &study.engines.front() ? meaning.search : meaning.rest) += engine + "\n";
    }
    meaning.search += std::to_string(study.seed) + "\n";
    if (study.prices)
    {
        for (const Field<PriceSpec>& field : PriceSpec::Fields())
        {
            meaning.search += field.get(*study.prices) + "\n";
        }
    }
    for (const SearchAxis& axis : study.search)
    {
        meaning.search += axis.key;
        for (const std::string& value : axis.values)
        {
            meaning.search += "," + value;
        }
        meaning.search += "\n";
    }
    meaning.search += study.uncertain ? UncertainText(*study.uncertain) : "";
    meaning.search += StudyJson(study.scenario);
    return meaning;
}

const std::optional<StudyMeaning>&
SettingsFinder::With(const CommonOptions& options, const std::vector<std::string>& set)
{
    const auto [entry, isNew] = m_known.try_emplace(set);
    if (isNew)
    {
        CommonOptions own = options;
        own.set = set;
        try
        {
            entry->second = MeaningOf(ReadStudy(own.study, OverridesOf(own), m_scope));
        }
        catch (const ConfigError&)
        {
            // There is no such study, which is then another one.
        }
    }
    return entry->second;
}

std::vector<StudySetting>
SettingsFinder::Find(const CommonOptions& options, const Study& study)
{
    const StudyMeaning whole = MeaningOf(study);
    const auto isSearch = [&whole](const std::optional<StudyMeaning>& other) {
        return other && other->search == whole.search;
    };
    const std::optional<StudyMeaning>& none = With(options, {});
    if (none == whole)
    {
        return {};
    }
    std::vector<StudySetting> all;
    std::vector<StudySetting> found;
    std::vector<std::string> left = options.set;
    for (const auto& [key, value] : GivenSettings(options))
    {
        const std::optional<StudyMeaning>& without = With(options, Without(options.set, key));
        const StudySetting setting{key, value, !isSearch(none) && !isSearch(without)};
        all.push_back(setting);
        if (without == whole)
        {
            left = Without(left, key);
        }
        else
        {
            found.push_back(setting);
        }
    }
    // Of two that say the same each alone is idle, and both together are not.
    const std::optional<StudyMeaning>& byFound = With(options, left);
    if (byFound != whole)
    {
        found = all;
    }
    const bool told = std::any_of(found.begin(), found.end(), [](const StudySetting& setting) {
        return setting.ofSearch;
    });
    if (!told && !isSearch(none))
    {
        for (StudySetting& setting : found)
        {
            setting.ofSearch = true;
        }
    }
    return found;
}

std::vector<std::pair<std::string, std::string>>
GivenSettings(const CommonOptions& options)
{
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& text : options.set)
    {
        const size_t equals = text.find('=');
        const std::string key = text.substr(0, equals);
        // The last of equal keys also comes last.
        settings.erase(std::remove_if(settings.begin(),
                                      settings.end(),
                                      [&key](const auto& one) { return one.first == key; }),
                       settings.end());
        settings.emplace_back(key, text.substr(equals + 1));
    }
    return settings;
}

bool
IsAsWritten(const Study& study)
{
    return std::none_of(study.settings.begin(), study.settings.end(), [](const auto& setting) {
        return setting.ofSearch;
    });
}

std::string
SettingsText(const std::vector<StudySetting>& settings)
{
    std::string text;
    for (const StudySetting& setting : settings)
    {
        text += (text.empty() ? "" : ", ") + (setting.key + "=" + setting.value);
    }
    return text;
}

std::string
TitleOf(const Study& study)
{
    const std::string set = SettingsText(study.settings);
    return study.name + (set.empty() ? "" : ", " + set);
}

Json
SettingsJson(const std::vector<StudySetting>& settings)
{
    Json json = Json::object();
    for (const StudySetting& setting : settings)
    {
        json[setting.key] = setting.value;
    }
    return json;
}

Json
WithChanges(const Study& study, const Json& rows)
{
    if (study.settings.empty())
    {
        return rows;
    }
    Json all = Json::array();
    for (const Json& row : rows)
    {
        Json own = {{"changes", SettingsText(study.settings)}};
        own.update(row);
        all.push_back(own);
    }
    return all;
}

} // namespace scaleacross
