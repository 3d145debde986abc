// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/merge.h"

#include "cli/command.h"
#include "cli/output-file.h"
#include "cli/shell-text.h"
#include "core/base/errors.h"
#include "core/base/text.h"

#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

struct MergeOptions
{
    std::string out;
    std::vector<std::string> files;
    bool json{false};
};

/// Looks at every file before anything is written.
void
Check(const MergeOptions& options)
{
    namespace fs = std::filesystem;
    for (const auto& file : options.files)
    {
        std::error_code ignored;
        if (!fs::exists(file, ignored))
        {
            throw ConfigError(file,
                              "there is no such file",
                              "databases that explore, run or compare have written",
                              "");
        }
        if (fs::equivalent(file, options.out, ignored))
        {
            throw ConfigError(file,
                              "this is " + options.out + " itself, into which the others go",
                              "other files",
                              "leave it out: what it holds stays");
        }
        const Database database(file, Database::Access::Read);
    }
    ExpectDatabase(options.out, "OUT.db");
    Database::ExpectCreatable(options.out);
}

/// "; missing shards 2 and 4"; "" of none.
std::string
ShardsText(const std::string& what, const std::vector<uint64_t>& numbers)
{
    std::vector<std::string> words;
    words.reserve(numbers.size());
    for (const uint64_t number : numbers)
    {
        words.push_back(std::to_string(number));
    }
    return words.empty() ? ""
                         : "; " + what + (words.size() > 1 ? " shards " : " shard ") + AllOf(words);
}

/// "keep 5, not 100; release of the program".
std::string
DifferenceText(const MergedShards& merged)
{
    std::string text;
    for (size_t i = 0; i < merged.differs.size(); i++)
    {
        const auto& [name, value] = merged.differs[i];
        text += (text.empty() ? "" : "; ") + name;
        text += value.empty() ? "" : " " + value + ", not " + merged.others[i];
    }
    return text;
}

std::string
MergedText(const MergeOptions& options, const std::vector<MergedShards>& all)
{
    std::string text = fmt::format("Merged {} file{} into {}.\n",
                                   options.files.size(),
                                   options.files.size() == 1 ? "" : "s",
                                   options.out);
    bool whole = false;
    for (const auto& merged : all)
    {
        text += fmt::format("{}, {} shards: ", merged.study, merged.shards);
        if (merged.IsWhole())
        {
            whole = true;
            text += fmt::format("whole, search {}\n", merged.whole);
            continue;
        }
        text += "not whole yet";
        text += ShardsText("missing", merged.missing);
        text += ShardsText("not finished", merged.unfinished);
        text += "\n";
        const std::string differs = DifferenceText(merged);
        text += differs.empty()
                    ? ""
                    : "  another search than the first of this study, by " + differs +
                          ": shards become whole only with others of the same options\n";
    }
    if (whole)
    {
        text += "\nFor baselines and the answer:\n    scaleacross explore STUDY --db " +
                ShellPath(options.out) + "\n";
    }
    return text;
}

nlohmann::json
MergedJson(const MergeOptions& options, const std::vector<MergedShards>& all)
{
    nlohmann::json searches = nlohmann::json::array();
    for (const auto& merged : all)
    {
        nlohmann::json differs = nlohmann::json::object();
        for (size_t i = 0; i < merged.differs.size(); i++)
        {
            differs[merged.differs[i].name] = {merged.differs[i].value, merged.others[i]};
        }
        searches.push_back(
            {{"study", merged.study},
             {"shards", merged.shards},
             {"missing", merged.missing},
             {"unfinished", merged.unfinished},
             {"differs", differs},
             {"search", merged.IsWhole() ? nlohmann::json(merged.whole) : nlohmann::json()}});
    }
    return {{"db", options.out}, {"files", options.files}, {"sharded", searches}};
}

/// Removes a database that was made in vain.
void
Remove(const std::string& path)
{
    for (const char* end : {"", "-wal", "-shm"})
    {
        std::error_code ignored;
        std::filesystem::remove(path + end, ignored);
    }
}

Exit
MergeFiles(const MergeOptions& options)
{
    Check(options);
    std::error_code ignored;
    const bool fresh = !std::filesystem::exists(options.out, ignored);
    std::vector<MergedShards> merged;
    try
    {
        Database out(options.out, Database::Access::Write);
        out.Explained([&] { merged = Merge(out, options.files); });
    }
    catch (...)
    {
        if (fresh)
        {
            Remove(options.out);
        }
        throw;
    }
    std::cout << (options.json ? MergedJson(options, merged).dump(2) + "\n"
                               : MergedText(options, merged));
    return Exit::Done;
}

} // namespace

void
AddMerge(CommandLine& program)
{
    auto options = std::make_shared<MergeOptions>();
    Command command =
        program.Add("merge", "put databases together, and the shards of searches in them");
    command.Add("OUT.db", options->out, "database to put them into; made if it is not there")
        .Required();
    command.Add("FILE.db", options->files, "databases whose results are taken over").Required();
    command.Flag("--json", options->json, "print JSON instead of text");
    command.Does([options] { return MergeFiles(*options); });
}

} // namespace scaleacross
