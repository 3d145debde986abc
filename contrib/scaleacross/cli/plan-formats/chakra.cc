// SPDX-License-Identifier: GPL-2.0-only

#include "cli/output-file.h"
#include "cli/plan-formats/plan-format.h"
#include "core/base/errors.h"
#include "core/engine/engine.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/chakra/chakra-writer.h"

#include <filesystem>
#include <fmt/core.h>
#include <variant>

namespace scaleacross
{

namespace
{

std::string
WriteTraces(const Study& study, const std::string& files)
{
    if (files == "-")
    {
        throw ConfigError("-o",
                          "traces are several files, and - is one",
                          "what their names begin with, such as step",
                          "");
    }
    const auto prepared = PrepareRun(study.scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        throw RunError(no->reason, no->detail);
    }
    const auto& run = std::get<PreparedRun>(prepared);
    std::error_code ignored;
    if (const std::string more = ChakraFile(files, run.graph.ranks);
        std::filesystem::exists(more, ignored))
    {
        throw ConfigError(more,
                          "it is of more ranks than the plan has, " +
                              std::to_string(run.graph.ranks) +
                              ", and would be read with its traces",
                          "traces of one plan at a prefix",
                          "remove those that are there, or choose another prefix by -o");
    }
    const ChakraWriter writer(run);
    // Before the first is replaced: a study may replay traces of this name.
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        ExpectOutput(ChakraFile(files, rank));
    }
    ExpectOutput(ChakraGroupsFile(files));
    uint64_t bytes = 0;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        const std::string text = writer.Trace(rank);
        WriteOutput(ChakraFile(files, rank), text);
        bytes += text.size();
    }
    WriteOutput(ChakraGroupsFile(files), writer.Groups().Json());
    return fmt::format("{} to {}: an iteration of {} ranks, {:.1f} MB; groups in {}\n",
                       ChakraFile(files, 0),
                       ChakraFile(files, run.graph.ranks - 1),
                       run.graph.ranks,
                       static_cast<double>(bytes) / 1e6,
                       ChakraGroupsFile(files));
}

} // namespace

const PlanFormat&
ChakraFormat()
{
    static const PlanFormat format{
        "chakra",
        "execution traces of what the ranks do in an iteration, -o begins their names",
        nullptr,
        &WriteTraces};
    return format;
}

} // namespace scaleacross
