// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/engines.h"
#include "cli/rows-file.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/explore/baselines/baseline.h"
#include "core/io/presets.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/event-spec.h"
#include "core/spec/price-spec.h"
#include "core/spec/uncertain-spec.h"

#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Row = std::vector<std::string>;

/// A line of a list; of a preset also all that it says.
struct Entry
{
    Row cells;
    /// Every key that means something of it, with its value, whether said or usual.
    std::vector<std::pair<std::string, std::string>> values{};
};

/// A list: its name, columns and entries. The first column is the name that a study uses.
struct Listing
{
    std::string name;
    Row columns;
    std::vector<Entry> (*entries)();
};

/// "loss_bytes=80; routing_stall=2.9ms": what a value's fields say beside those with columns of
/// their own, so that no field is missing from a list because nobody thought of it.
template <class T>
std::string
SaidBy(const T& value, const std::set<std::string>& shown = {})
{
    std::string text;
    for (const auto& field : T::Fields())
    {
        if (!field.label && field.IsSaid(value) && shown.count(field.key) == 0)
        {
            text += (text.empty() ? "" : "; ") + field.key + "=" + field.get(value);
        }
    }
    return text.empty() ? "-" : text;
}

template <class T>
Entry
EntryOf(const Row& cells, const T& value)
{
    Entry entry{cells};
    for (const auto& field : T::Fields())
    {
        if (!field.label && field.applies(value))
        {
            entry.values.emplace_back(field.key, field.get(value));
        }
    }
    return entry;
}

std::string
Billions(uint64_t count)
{
    return fmt::format("{:.2f}B", static_cast<double>(count) * 1e-9);
}

std::vector<Entry>
Engines()
{
    std::vector<Entry> entries;
    for (const EngineRow& row : EngineRows())
    {
        entries.push_back({{row.word, row.IsForm() ? row.argument : "-", row.help}});
    }
    return entries;
}

std::vector<Entry>
Models()
{
    std::vector<Entry> entries;
    for (const auto& preset : Presets<ModelSpec>())
    {
        const ModelSpec& model = preset.value;
        entries.push_back(EntryOf({model.name,
                                   std::to_string(model.layers),
                                   std::to_string(model.hidden),
                                   model.IsMoe() ? std::to_string(model.experts) : "-",
                                   Billions(model.TotalParameters()),
                                   Billions(model.ActiveParameters()),
                                   SaidBy(model, {"layers", "hidden", "experts"}),
                                   preset.date,
                                   preset.source},
                                  model));
    }
    return entries;
}

std::vector<Entry>
Gpus()
{
    std::vector<Entry> entries;
    for (const auto& preset : Presets<GpuSpec>())
    {
        const GpuSpec& gpu = preset.value;
        entries.push_back(EntryOf({gpu.name,
                                   ToString(gpu.bf16Peak),
                                   ToString(gpu.hbmCapacity),
                                   ToString(gpu.scaleUpBandwidth),
                                   std::to_string(gpu.scaleUpDomain),
                                   ToString(gpu.nicRate),
                                   SaidBy(gpu,
                                          {"bf16_peak",
                                           "hbm_capacity",
                                           "scale_up_bandwidth",
                                           "scale_up_domain",
                                           "nic_rate"}),
                                   preset.date,
                                   preset.source},
                                  gpu));
    }
    return entries;
}

std::vector<Entry>
Machines()
{
    std::vector<Entry> entries;
    const auto network = [](const MachineSpec& machine) {
        Plan plan;
        plan.network = machine.network;
        std::vector<std::pair<std::string, std::string>> said;
        for (const auto& field : PlanFields())
        {
            if (field.key.rfind("network.", 0) == 0 && field.IsSaid(plan))
            {
                said.emplace_back(field.key, field.get(plan));
            }
        }
        return said;
    };
    for (const auto& preset : Presets<MachineSpec>())
    {
        const MachineSpec& machine = preset.value;
        std::string says;
        for (const auto& [key, value] : network(machine))
        {
            says += (says.empty() ? "" : "; ") + key + "=" + value;
        }
        Entry entry = EntryOf({machine.name,
                               machine.gpu.name,
                               std::to_string(machine.gpusPerNode),
                               std::to_string(machine.gpu.scaleUpDomain),
                               std::to_string(machine.nics),
                               ToString(machine.nicRate),
                               SaidBy(machine.fabric),
                               says.empty() ? "-" : says,
                               preset.help,
                               preset.date,
                               preset.source},
                              machine);
        for (const auto& [key, value] : EntryOf({}, machine.fabric).values)
        {
            entry.values.emplace_back("fabric." + key, value);
        }
        GpuSpec gpu = machine.gpu;
        gpu.nicRate = machine.NicShare();
        for (const auto& [key, value] : EntryOf({}, gpu).values)
        {
            entry.values.emplace_back("gpu." + key, value);
        }
        const auto said = network(machine);
        entry.values.insert(entry.values.end(), said.begin(), said.end());
        entries.push_back(entry);
    }
    return entries;
}

/// Of presets that a name and few figures do not tell.
template <class T>
std::vector<Entry>
Named()
{
    std::vector<Entry> entries;
    for (const auto& preset : Presets<T>())
    {
        entries.push_back(
            EntryOf({preset.name, SaidBy(preset.value), preset.help, preset.date, preset.source},
                    preset.value));
    }
    return entries;
}

std::vector<Entry>
Curves()
{
    std::vector<Entry> entries;
    for (const auto& preset : Presets<GpuCurve>())
    {
        entries.push_back(
            EntryOf({preset.name, SaidBy(preset.value), preset.date, preset.source}, preset.value));
    }
    return entries;
}

/// The words of the plan's fields with this prefix, but for tiers, which repeat them, and the
/// schedules, which have a list of their own.
std::vector<Entry>
WordsOf(const std::string& prefix)
{
    std::vector<Entry> entries;
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
            entries.push_back(
                {{field.key, field.words[i], usual ? "yes" : "-", field.meanings[i]}});
        }
    }
    return entries;
}

std::vector<Entry>
Schedules()
{
    std::vector<Entry> entries;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const ScheduleFacts& facts = schedule->Facts();
        entries.push_back({{facts.name, schedule->ChunksText(), facts.help, facts.source}});
    }
    return entries;
}

std::vector<Entry>
NetworkWords()
{
    return WordsOf("network.");
}

std::vector<Entry>
PlanWords()
{
    return WordsOf("plan.");
}

std::vector<Entry>
BaselineRules()
{
    std::vector<Entry> entries;
    for (const BaselineFacts* baseline : Baseline::Rows())
    {
        entries.push_back({{baseline->word,
                            baseline->help,
                            baseline->tunes,
                            baseline->untouched,
                            baseline->source}});
    }
    return entries;
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
AddFields(std::vector<Entry>& entries, const std::string& path, const FieldTable<Owner>& table)
{
    for (const auto& field : table)
    {
        entries.push_back({{path + field.key, DefaultOf(field), field.allowed, field.help}});
    }
}

std::vector<Entry>
Fields()
{
    std::vector<Entry> entries;
    AddFields(entries, "model.", ModelSpec::Fields());
    AddFields(entries, "workload.", WorkloadSpec::Fields());
    AddFields(entries, "workload.stack.", SoftwareStack::Fields());
    AddFields(entries, "cluster.buildings.", BuildingSpec::Fields());
    AddFields(entries, "cluster.buildings.gpu.", GpuSpec::Fields());
    AddFields(entries, "cluster.buildings.fabric.", FabricSpec::Fields());
    AddFields(entries, "cluster.cross.", CrossLinkSpec::Fields());
    AddFields(entries, "", PlanFields());
    AddFields(entries, "events.", EventSpec::Fields());
    AddFields(entries, "prices.", PriceSpec::Fields());
    AddFields(entries, "uncertain.", UncertainSpec::Fields());
    for (const std::string& key : UncertainSpec::FigureKeys())
    {
        AddFields(entries, "uncertain." + key + ".", SpreadSpec::Fields());
    }
    AddFields(entries, "machine.", MachineSpec::Fields());
    return entries;
}

const std::vector<Listing>&
Listings()
{
    static const std::vector<Listing> listings = {
        {"models",
         {"model",
          "layers",
          "hidden",
          "experts",
          "parameters",
          "active",
          "further",
          "date",
          "source"},
         Models},
        {"gpus",
         {"gpu", "BF16 peak", "HBM", "scale-up", "domain", "NIC", "further", "date", "source"},
         Gpus},
        {"curves", {"curve", "says", "date", "source"}, Curves},
        {"stacks", {"stack", "says", "meaning", "date", "source"}, Named<SoftwareStack>},
        {"fabrics", {"fabric", "says", "meaning", "date", "source"}, Named<FabricSpec>},
        {"machines",
         {"machine",
          "gpu",
          "GPUs",
          "domain",
          "NICs",
          "NIC",
          "fabric",
          "network",
          "meaning",
          "date",
          "source"},
         Machines},
        {"schedules", {"schedule", "chunks", "meaning", "source"}, Schedules},
        {"transports", {"field", "word", "default", "meaning"}, NetworkWords},
        {"plans", {"field", "word", "default", "meaning"}, PlanWords},
        {"baselines", {"baseline", "rule", "tunes", "does not touch", "source"}, BaselineRules},
        {"engines", {"engine", "takes", "meaning"}, Engines},
        {"fields", {"field", "default", "values", "meaning"}, Fields},
    };
    return listings;
}

Json
JsonOf(const Listing& listing)
{
    Json all = Json::array();
    for (const auto& entry : listing.entries())
    {
        Json row;
        for (size_t i = 0; i < entry.cells.size(); i++)
        {
            row[listing.columns[i]] = entry.cells[i];
        }
        for (const auto& [key, value] : entry.values)
        {
            row["values"][key] = value;
        }
        all.push_back(row);
    }
    return all;
}

std::string
TextOf(const Listing& listing)
{
    std::vector<Table::Column> columns;
    for (const auto& title : listing.columns)
    {
        columns.push_back({title, Table::Align::Left});
    }
    Table table(columns);
    for (const auto& entry : listing.entries())
    {
        table.Add(entry.cells);
    }
    return table.Text(ReadingWidth());
}

} // namespace

void
AddList(CommandLine& program)
{
    struct Options
    {
        std::string what;
        bool json{false};
        RowsFile csv;
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
    options->csv.AddTo(command, "entry");
    command.Does([options, names]() -> Exit {
        for (const auto& listing : Listings())
        {
            if (listing.name == options->what)
            {
                options->csv.Expect();
                std::cout << (options->json ? JsonOf(listing).dump(2) + "\n" : TextOf(listing));
                options->csv.Write([&listing] { return JsonOf(listing); });
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
