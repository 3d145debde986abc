// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/field-option.h"
#include "cli/rows-file.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"
#include "helper/bench/many-to-one.h"
#include "helper/engine/study-attributes.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <fmt/core.h>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

struct FairnessCommand
{
    std::vector<std::string> controls;
    uint32_t senders{ManyToOne().senders};
    uint32_t flows{ManyToOne().flows};
    uint32_t switches{ManyToOne().switches};
    uint32_t payload{ManyToOne().payload};
    std::string rate{"100Gbps"};
    std::string delay{"3us"};
    std::string stagger{"0us"};
    std::string warmUp{"20ms"};
    std::string measured{"20ms"};
    std::string interval{"100us"};
    std::vector<std::string> settings;
    uint32_t seed{1};
    bool json{false};
    RowsFile csv;
};

/// Attributes that options stand for.
const std::map<std::string, std::string> kOwnAttributes = {
    {"ns3::FabricSwitch::MaxPacketSize", "--payload"},
    {"ns3::RdmaNic::FixedOverhead", "the headers that all packets have here, those of RoCE"},
    {"ns3::RdmaNic::PathMtu", "--payload"},
    {"ns3::RdmaQueuePair::CongestionOps", "--control"},
};

std::vector<CongestionControl>
ControlsOf(const FairnessCommand& options)
{
    std::vector<CongestionControl> controls;
    for (const std::string& word : options.controls)
    {
        Plan plan;
        SetField(plan, "network.control", word);
        if (std::find(controls.begin(), controls.end(), plan.network.control) != controls.end())
        {
            throw ConfigError("--control", Quoted(word) + " is given twice", "every word once", "");
        }
        controls.push_back(plan.network.control);
    }
    return controls;
}

/// NAME=VALUE, once each.
std::map<std::string, std::string>
AttributesOf(const std::vector<std::string>& settings)
{
    std::map<std::string, std::string> attributes;
    for (const std::string& setting : settings)
    {
        const size_t equals = setting.find('=');
        if (equals == std::string::npos)
        {
            throw ConfigError("--ns3",
                              "'" + setting + "' has no =",
                              "ns3::TypeId::Attribute=VALUE",
                              "");
        }
        const std::string name = setting.substr(0, equals);
        const auto option = kOwnAttributes.find(name);
        if (option != kOwnAttributes.end())
        {
            throw ConfigError("--ns3",
                              name + " is set by " + option->second,
                              "attributes that no other option sets",
                              "");
        }
        if (!attributes.emplace(name, setting.substr(equals + 1)).second)
        {
            throw ConfigError("--ns3", name + " is given twice", "each attribute once", "");
        }
    }
    return attributes;
}

ManyToOne
WorkOf(const FairnessCommand& options)
{
    ManyToOne work;
    work.senders = options.senders;
    work.flows = options.flows;
    work.switches = options.switches;
    work.payload = options.payload;
    work.bitRate = static_cast<uint64_t>(
        ParseAt("--rate", [&] { return ParseBitRate(options.rate); }).Value());
    work.delay = ParseAt("--delay", [&] { return ParseDuration(options.delay); });
    work.stagger = ParseAt("--stagger", [&] { return ParseDuration(options.stagger); });
    work.warmUp = ParseAt("--warm-up", [&] { return ParseDuration(options.warmUp); });
    work.measured = ParseAt("--measured", [&] { return ParseDuration(options.measured); });
    work.interval = ParseAt("--interval", [&] { return ParseDuration(options.interval); });
    work.seed = options.seed;
    for (const auto& [name, value] : AttributesOf(options.settings))
    {
        work.chosen.insert(name);
    }
    work.Validate();
    return work;
}

Json
ToJson(const ManyToOne& work, const ManyToOneResult& result)
{
    Json json = {{"control", ToString(work.control)},
                 {"senders", work.senders},
                 {"flows", work.flows},
                 {"switches", work.switches},
                 {"payload", work.payload},
                 {"rate_gbps", static_cast<double>(work.bitRate) * 1e-9},
                 {"seed", work.seed},
                 {"base_rtt_us", work.BaseRoundTrip().Us()},
                 {"rates_gbps", result.rates},
                 {"jain", result.jain},
                 {"share", result.share},
                 {"queue_mean_bytes", result.queueMean},
                 {"queue_p50_bytes", result.queueP50},
                 {"queue_p90_bytes", result.queueP90},
                 {"queue_p99_bytes", result.queueP99},
                 {"queue_peak_bytes", result.queuePeak},
                 {"marked", result.marked},
                 {"dropped", result.drops},
                 {"pause_frames", result.pauses}};
    json["convergence_us"] =
        result.convergence < Duration() ? Json(nullptr) : Json(result.convergence.Us());
    return json;
}

std::string
Text(const std::vector<std::pair<ManyToOne, ManyToOneResult>>& rows)
{
    Table table({{"control", Table::Align::Left},
                 {"Jain"},
                 {"line used"},
                 {"queue mean kB"},
                 {"p99 kB"},
                 {"peak kB"},
                 {"fair after us"},
                 {"marked"},
                 {"pauses"},
                 {"drops"}});
    for (const auto& [work, result] : rows)
    {
        table.Add({ToString(work.control),
                   fmt::format("{:.4f}", result.jain),
                   fmt::format("{:.1f} %", result.share * 100),
                   fmt::format("{:.1f}", result.queueMean * 1e-3),
                   fmt::format("{:.1f}", result.queueP99 * 1e-3),
                   fmt::format("{:.1f}", static_cast<double>(result.queuePeak) * 1e-3),
                   result.convergence < Duration() ? "never"
                                                   : fmt::format("{:.0f}", result.convergence.Us()),
                   fmt::format("{:.4f}", result.marked),
                   std::to_string(result.pauses),
                   std::to_string(result.drops)});
    }
    return table.Text();
}

Exit
Fairness(const FairnessCommand& options)
{
    options.csv.Expect();
    ManyToOne work = WorkOf(options);
    const std::vector<CongestionControl> controls = ControlsOf(options);
    ns3::Time::SetResolution(ns3::Time::PS);
    ns3::SetAttributeDefaults(AttributesOf(options.settings), "--ns3 ");
    std::vector<std::pair<ManyToOne, ManyToOneResult>> rows;
    for (const CongestionControl control : controls)
    {
        work.control = control;
        rows.emplace_back(work, RunManyToOne(work));
        if (options.json)
        {
            std::cout << ToJson(work, rows.back().second).dump() << "\n";
        }
    }
    if (!options.json)
    {
        std::cout << Text(rows);
    }
    options.csv.Write([&rows] {
        Json all = Json::array();
        for (const auto& [ran, result] : rows)
        {
            all.push_back(ToJson(ran, result));
        }
        return all;
    });
    return Exit::Done;
}

} // namespace

void
AddFairness(CommandLine& program)
{
    auto options = std::make_shared<FairnessCommand>();
    Command command = program.Add(
        "fairness",
        "how congestion controls share a port among senders to one host, at packet level");
    command
        .Add("--control",
             options->controls,
             "one or more, separated by commas: " + FieldOf("network.control").allowed)
        .SeparatedByCommas()
        .Required();
    command.Add("--senders", options->senders, "hosts that send to one").ShowDefault();
    command.Add("--flows", options->flows, "of each of them").ShowDefault();
    command.Add("--switches", options->switches, "in a row, senders on the first").ShowDefault();
    command.Add("--payload", options->payload, "bytes of a packet").ShowDefault();
    command.Add("--rate", options->rate, "of every wire").ShowDefault();
    command.Add("--delay", options->delay, "of every wire").ShowDefault();
    command.Add("--stagger", options->stagger, "between the starts of two senders").ShowDefault();
    command.Add("--warm-up", options->warmUp, "from the beginning to the measurement")
        .ShowDefault();
    command.Add("--measured", options->measured, "length of the measurement").ShowDefault();
    command.Add("--interval", options->interval, "over which shares are compared").ShowDefault();
    command.Add("--ns3",
                options->settings,
                "an ns-3 attribute, ns3::TypeId::Attribute=VALUE; may be repeated");
    command.Add("--seed", options->seed, "of marking").Between(1, 4294967295).ShowDefault();
    command.Flag("--json", options->json, "print a JSON object per control and line");
    options->csv.AddTo(command, "control");
    command.Does([options] { return Fairness(*options); });
}

} // namespace scaleacross
