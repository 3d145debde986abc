// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "cli/shell-text.h"
#include "cli/show/ranking-columns.h"
#include "cli/study-settings.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

/// What the name of a shard's database ends with.
std::string
EndOf(const Shard& shard)
{
    return fmt::format(".shard-{}-of-{}.db", shard.index + 1, shard.count);
}

/// Databases of all shards, the first ones and the last.
std::string
ShardDatabases(const std::string& prefix, uint64_t count)
{
    std::string names;
    for (Shard each{0, count}; each.index < count; each.index++)
    {
        if (count > 4 && each.index == 1)
        {
            names += " ...";
            each.index = count - 1;
        }
        names += " " + ShellPath(prefix + EndOf(each));
    }
    return names;
}

/// The command that puts all shards together. Where this one's database ends as it does without
/// --db, so do those of the others; else they are for the user to name.
std::string
MergeCommand(const Study& study, const Shard& shard, const std::string& database)
{
    const std::string end = EndOf(shard);
    const bool usual = database.size() > end.size() &&
                       database.compare(database.size() - end.size(), end.size(), end) == 0;
    if (usual)
    {
        const std::string prefix = database.substr(0, database.size() - end.size());
        return "scaleacross merge " + ShellPath(prefix + ".db") +
               ShardDatabases(prefix, shard.count);
    }
    const std::string name = FileNameOf(study.name);
    const std::string whole = name + (database == name + ".db" ? ".whole.db" : ".db");
    return "scaleacross merge " + ShellPath(whole) + " " + ShellPath(database) +
           " DB-OF-ANOTHER-SHARD" + (shard.count > 2 ? " ..." : "");
}

} // namespace

std::string
ShardDatabaseOf(const Study& study, const Shard& shard)
{
    return FileNameOf(study.name) + EndOf(shard);
}

std::string
ShardText(const Study& study, const SearchSpace& space, const Shard& shard, const Answer& answer)
{
    const Frontier& counts = answer.search.counts;
    const uint64_t positions = shard.Positions(space.Size(), space.FamilySize(0));
    std::string text = fmt::format("{}: shard {}, {} of {} combinations\n",
                                   TitleOf(study),
                                   ToString(shard),
                                   positions,
                                   answer.plans);
    if (answer.search.interrupted)
    {
        text += fmt::format("so far, {} of {} combinations are decided: ",
                            counts.DecidedPositions(),
                            positions);
    }
    text += fmt::format("{}; {:.1f} s\n", SpaceText(counts), answer.seconds);
    text += "Stored in " + answer.database + ".\n";
    if (!answer.search.interrupted)
    {
        text += "\nBaselines and the answer come with the whole. When all shards are done:\n    " +
                MergeCommand(study, shard, answer.database) +
                "\nand then explore with the --db that merge has made.\n";
    }
    return text;
}

Json
ShardJson(const Study& study, const SearchSpace& space, const Shard& shard, const Answer& answer)
{
    Json json = SpaceJson(answer.search.counts, answer.plans);
    json["study"] = study.name;
    json["settings"] = SettingsJson(study.settings);
    json["shard"] = {{"index", shard.index + 1},
                     {"count", shard.count},
                     {"combinations", shard.Positions(space.Size(), space.FamilySize(0))}};
    // Those that it keeps: which of them count, the whole says.
    json["ranking"] = Json::array();
    for (const Ranked& ranked : answer.search.board.Best())
    {
        Json entry = ValuesJson(ranked.report, answer.goals.rates);
        entry["label"] = space.LabelOf(ranked.plan);
        json["ranking"].push_back(entry);
    }
    json["seconds"] = answer.seconds;
    json["db"] = answer.database;
    json["interrupted"] = answer.search.interrupted;
    json["next"] = MergeCommand(study, shard, answer.database);
    return json;
}

} // namespace scaleacross
