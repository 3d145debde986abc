// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "cli/shell-text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

/// The command that puts all shards together, by the names that they have unless --db says others.
std::string
MergeCommand(const Study& study, const Shard& shard)
{
    std::string command = "scaleacross merge " + ShellPath(FileNameOf(study.name) + ".db");
    for (Shard each{0, shard.count}; each.index < shard.count; each.index++)
    {
        if (shard.count > 4 && each.index == 1)
        {
            command += " ...";
            each.index = shard.count - 1;
        }
        command += " " + ShellPath(ShardDatabaseOf(study, each));
    }
    return command;
}

} // namespace

std::string
ShardDatabaseOf(const Study& study, const Shard& shard)
{
    return FileNameOf(study.name) + fmt::format(".shard-{}-of-{}.db", shard.index + 1, shard.count);
}

std::string
ShardText(const Study& study, const SearchSpace& space, const Shard& shard, const Answer& answer)
{
    const Frontier& counts = answer.search.counts;
    std::string text = fmt::format("{}: shard {}, {} of {} combinations\n",
                                   study.name,
                                   ToString(shard),
                                   shard.Positions(space.Size(), space.FamilySize(0)),
                                   answer.plans);
    if (answer.search.interrupted)
    {
        text += fmt::format("so far, {} of {} plans are decided: ",
                            counts.Decided(),
                            counts.Distinct());
    }
    text += fmt::format("{}; {:.1f} s\n", SpaceText(counts), answer.seconds);
    text += "Stored in " + answer.database + ".\n";
    if (!answer.search.interrupted)
    {
        text += "\nBaselines and the answer come with the whole. When all shards are done:\n    " +
                MergeCommand(study, shard) +
                "\nand then explore with the --db that merge has made.\n";
    }
    return text;
}

Json
ShardJson(const Study& study, const SearchSpace& space, const Shard& shard, const Answer& answer)
{
    Json json = SpaceJson(answer.search.counts, answer.plans);
    json["study"] = study.name;
    json["shard"] = {{"index", shard.index + 1},
                     {"count", shard.count},
                     {"combinations", shard.Positions(space.Size(), space.FamilySize(0))}};
    json["seconds"] = answer.seconds;
    json["db"] = answer.database;
    json["interrupted"] = answer.search.interrupted;
    json["next"] = MergeCommand(study, shard);
    return json;
}

} // namespace scaleacross
