// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/baselines/baseline.h"
#include "core/io/presets.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/event-spec.h"

#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

using Row = std::vector<std::string>;

/// A list: its name, columns and rows. The first column is the name that a study uses.
struct Listing
{
    std::string name;
    Row columns;
    std::vector<Row> (*rows)();
};

std::string
Billions(uint64_t count)
{
    return fmt::format("{:.2f}B", static_cast<double>(count) * 1e-9);
}

std::vector<Row>
Models()
{
    std::vector<Row> rows;
    for (const auto& preset : Presets<ModelSpec>())
    {
        const ModelSpec& model = preset.value;
        rows.push_back({model.name,
                        std::to_string(model.layers),
                        std::to_string(model.hidden),
                        model.IsMoe() ? std::to_string(model.experts) : "-",
                        Billions(model.TotalParameters()),
                        Billions(model.ActiveParameters()),
                        preset.date,
                        preset.source});
    }
    return rows;
}

std::vector<Row>
Gpus()
{
    std::vector<Row> rows;
    for (const auto& preset : Presets<GpuSpec>())
    {
        const GpuSpec& gpu = preset.value;
        rows.push_back({gpu.name,
                        ToString(gpu.bf16Peak),
                        ToString(gpu.hbmCapacity),
                        ToString(gpu.scaleUpBandwidth),
                        std::to_string(gpu.scaleUpDomain),
                        ToString(gpu.nicRate),
                        preset.date,
                        preset.source});
    }
    return rows;
}

std::vector<Row>
Curves()
{
    std::vector<Row> rows;
    for (const auto& preset : Presets<GpuCurve>())
    {
        const GpuCurve& curve = preset.value;
        rows.push_back({preset.name,
                        fmt::format("{}", curve.gemmEfficiency),
                        fmt::format("{}", curve.attentionEfficiency),
                        fmt::format("{}", curve.hbmEfficiency),
                        fmt::format("{}", curve.scaleUpEfficiency),
                        preset.date,
                        preset.source});
    }
    return rows;
}

std::vector<Row>
Stacks()
{
    std::vector<Row> rows;
    for (const auto& preset : Presets<SoftwareStack>())
    {
        const SoftwareStack& stack = preset.value;
        rows.push_back({preset.name,
                        fmt::format("{}", stack.elementwise),
                        stack.flashAttention ? "-" : fmt::format("{}", stack.scorePasses),
                        stack.hostPerLayer > Duration() ? ToString(stack.hostPerLayer) : "-",
                        preset.help,
                        preset.date,
                        preset.source});
    }
    return rows;
}

std::vector<Row>
Fabrics()
{
    std::vector<Row> rows;
    for (const auto& preset : Presets<FabricSpec>())
    {
        const FabricSpec& fabric = preset.value;
        rows.push_back({preset.name,
                        fabric.aggregations == 0 ? "2" : "3",
                        fabric.rails ? "rails" : "shared",
                        std::to_string(fabric.nodesPerPod),
                        std::to_string(fabric.spines),
                        std::to_string(fabric.planes),
                        preset.help,
                        preset.date,
                        preset.source});
    }
    return rows;
}

/// The words of the plan's fields with this prefix, but for tiers, which repeat them, and the
/// schedules, which have a list of their own.
std::vector<Row>
WordsOf(const std::string& prefix)
{
    std::vector<Row> rows;
    const Plan defaults;
    for (const auto& field : PlanFields())
    {
        if (field.key.rfind(prefix, 0) != 0 || field.key.rfind("network.tiers.", 0) == 0 ||
            field.key == "plan.schedule")
        {
            continue;
        }
        for (size_t i = 0; i < field.words.size(); i++)
        {
            const bool usual = field.words[i] == field.get(defaults);
            rows.push_back({field.key, field.words[i], usual ? "yes" : "-", field.meanings[i]});
        }
    }
    return rows;
}

std::vector<Row>
Schedules()
{
    std::vector<Row> rows;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const ScheduleFacts& facts = schedule->Facts();
        rows.push_back({facts.name, schedule->ChunksText(), facts.help, facts.source});
    }
    return rows;
}

std::vector<Row>
NetworkWords()
{
    return WordsOf("network.");
}

std::vector<Row>
PlanWords()
{
    return WordsOf("plan.");
}

std::vector<Row>
BaselineRules()
{
    std::vector<Row> rows;
    for (const BaselineFacts* baseline : Baseline::Rows())
    {
        rows.push_back({baseline->word, baseline->help, baseline->tunes, baseline->untouched});
    }
    return rows;
}

/// What a field is where a study says nothing; "-" where it has to, or it follows from others.
template <class Owner>
std::string
DefaultOf(const Field<Owner>& field)
{
    Owner owner{};
    const std::string usual = field.get(owner);
    try
    {
        field.set(owner, usual);
    }
    catch (const ConfigError&)
    {
        return "-";
    }
    return field.example.empty() && !usual.empty() ? usual : "-";
}

/// Adds the fields of a table, whose keys stand below `path` in a study.
template <class Owner>
void
AddFields(std::vector<Row>& rows, const std::string& path, const FieldTable<Owner>& table)
{
    for (const auto& field : table)
    {
        rows.push_back({path + field.key, DefaultOf(field), field.allowed, field.help});
    }
}

std::vector<Row>
Fields()
{
    std::vector<Row> rows;
    AddFields(rows, "model.", ModelSpec::Fields());
    AddFields(rows, "workload.", WorkloadSpec::Fields());
    AddFields(rows, "workload.stack.", SoftwareStack::Fields());
    AddFields(rows, "cluster.buildings.", BuildingSpec::Fields());
    AddFields(rows, "cluster.buildings.gpu.", GpuSpec::Fields());
    AddFields(rows, "cluster.buildings.fabric.", FabricSpec::Fields());
    AddFields(rows, "cluster.cross.", CrossLinkSpec::Fields());
    AddFields(rows, "", PlanFields());
    AddFields(rows, "events.", EventSpec::Fields());
    return rows;
}

const std::vector<Listing>&
Listings()
{
    static const std::vector<Listing> listings = {
        {"models",
         {"model", "layers", "hidden", "experts", "parameters", "active", "date", "source"},
         Models},
        {"gpus", {"gpu", "BF16 peak", "HBM", "scale-up", "domain", "NIC", "date", "source"}, Gpus},
        {"curves", {"curve", "GEMM", "attention", "HBM", "scale-up", "date", "source"}, Curves},
        {"stacks",
         {"stack", "element-wise", "score passes", "host", "meaning", "date", "source"},
         Stacks},
        {"fabrics",
         {"fabric",
          "stages",
          "leaves",
          "nodes per pod",
          "spines",
          "planes",
          "meaning",
          "date",
          "source"},
         Fabrics},
        {"schedules", {"schedule", "chunks", "meaning", "source"}, Schedules},
        {"transports", {"field", "word", "default", "meaning"}, NetworkWords},
        {"plans", {"field", "word", "default", "meaning"}, PlanWords},
        {"baselines", {"baseline", "rule", "tunes", "does not touch"}, BaselineRules},
        {"fields", {"field", "default", "values", "meaning"}, Fields},
    };
    return listings;
}

void
PrintListing(const Listing& listing, bool json)
{
    const auto rows = listing.rows();
    if (json)
    {
        Json all = Json::array();
        for (const auto& row : rows)
        {
            Json entry;
            for (size_t i = 0; i < row.size(); i++)
            {
                entry[listing.columns[i]] = row[i];
            }
            all.push_back(entry);
        }
        std::cout << all.dump(2) << "\n";
        return;
    }
    std::vector<Table::Column> columns;
    for (const auto& title : listing.columns)
    {
        columns.push_back({title, Table::Align::Left});
    }
    Table table(columns);
    for (const auto& row : rows)
    {
        table.Add(row);
    }
    std::cout << table.Text();
}

} // namespace

void
AddList(CommandLine& program)
{
    struct Options
    {
        std::string what;
        bool json{false};
    };

    auto options = std::make_shared<Options>();
    std::vector<std::string> names;
    for (const auto& listing : Listings())
    {
        names.push_back(listing.name);
    }
    Command command = program.Add("list", "what a study can name: " + AnyOf(names));
    command.Add("WHAT", options->what, AnyOf(names)).Required();
    command.Flag("--json", options->json, "print JSON instead of a table");
    command.Does([options, names]() -> Exit {
        for (const auto& listing : Listings())
        {
            if (listing.name == options->what)
            {
                PrintListing(listing, options->json);
                return Exit::Done;
            }
        }
        const std::string nearest = Nearest(options->what, names);
        throw ConfigError("list " + options->what,
                          "there is no such list",
                          AnyOf(names),
                          nearest.empty() ? "" : "did you mean " + nearest + "?");
    });
}

} // namespace scaleacross
