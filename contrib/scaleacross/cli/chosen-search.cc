// SPDX-License-Identifier: GPL-2.0-only

#include "cli/chosen-search.h"

#include "core/base/errors.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace scaleacross
{

namespace
{

/// What of a study decides nothing that a search finds, but for its first engine.
constexpr std::array<const char*, 3> kIdle = {"study", "engines", "baselines"};
constexpr size_t kListed = 20; //!< more are not read

bool
IsAsWritten(const SearchSummary& search)
{
    return std::all_of(search.settings.begin(), search.settings.end(), [](const auto& setting) {
        return std::find(kIdle.begin(), kIdle.end(), setting.first) != kIdle.end();
    });
}

bool
SetsEngines(const SearchSummary& search)
{
    return std::any_of(search.settings.begin(), search.settings.end(), [](const auto& setting) {
        return setting.first == "engines";
    });
}

/// Those of studies as their files say them; one with engines of its own is none beside that of the
/// same study without.
std::vector<const SearchSummary*>
AsWritten(const std::vector<SearchSummary>& searches)
{
    std::vector<const SearchSummary*> found;
    for (const SearchSummary& one : searches)
    {
        const bool isBeside =
            SetsEngines(one) &&
            std::any_of(searches.begin(), searches.end(), [&one](const SearchSummary& other) {
                return other.study == one.study && IsAsWritten(other) && !SetsEngines(other);
            });
        if (IsAsWritten(one) && !isBeside)
        {
            found.push_back(&one);
        }
    }
    return found;
}

/// By their numbers, a line each.
std::string
ListText(std::vector<SearchSummary> searches)
{
    std::sort(searches.begin(), searches.end(), [](const auto& a, const auto& b) {
        return a.id < b.id;
    });
    std::string text;
    for (size_t i = 0; i < std::min(searches.size(), kListed); i++)
    {
        const SearchSummary& search = searches[i];
        text += fmt::format("\n    --search {}: {} ({} engine, {} combinations{}, {})",
                            search.id,
                            NameOf(search),
                            search.engine,
                            search.plans,
                            search.finished ? "" : ", not finished",
                            search.updated);
    }
    if (searches.size() > kListed)
    {
        text +=
            fmt::format("\n    and {} more, which show --json lists", searches.size() - kListed);
    }
    return text;
}

} // namespace

std::string
NameOf(const SearchSummary& search)
{
    const std::string asked = AskedText(search);
    std::string set;
    for (const auto& [key, value] : search.settings)
    {
        set += ", " + key + "=" + value;
    }
    return search.study + set + (asked.empty() ? "" : ", " + asked) +
           (search.shard.IsWhole() ? "" : ", shard " + ToString(search.shard));
}

const SearchSummary&
ChosenSearch(const std::string& path, const std::vector<SearchSummary>& searches, int64_t search)
{
    if (searches.empty())
    {
        throw ConfigError(path,
                          "no search is stored here",
                          "a database in which explore has stored one",
                          "");
    }
    if (search != 0)
    {
        const auto found = std::find_if(searches.begin(), searches.end(), [&](const auto& one) {
            return one.id == search;
        });
        if (found == searches.end())
        {
            throw ConfigError("--search " + std::to_string(search),
                              "the database has no such search",
                              "one of" + ListText(searches),
                              "");
        }
        return *found;
    }
    if (searches.size() == 1)
    {
        return searches.front(); // whatever was set: its header says so
    }
    const std::vector<const SearchSummary*> meant = AsWritten(searches);
    if (meant.size() != 1)
    {
        throw ConfigError(
            path,
            meant.empty()
                ? "no search is stored here of a study as its file says it, without --set or "
                  "--sweep"
                : fmt::format("{} searches are stored here of studies as their files say them",
                              meant.size()),
            "one of" + ListText(searches),
            "say which by --search");
    }
    return *meant.front();
}

SearchSummary
ChosenSearch(Database& database, int64_t search)
{
    return ChosenSearch(database.Path(), ListSearches(database), search);
}

} // namespace scaleacross
