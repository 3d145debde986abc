// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/report-json.h"
#include "cli/table.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"
#include "helper/many-to-one.h"

#include "ns3/nstime.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>

namespace scaleacross
{

namespace
{

struct FairnessCommand
{
    std::vector<std::string> controls;
    uint32_t senders{ManyToOne().senders};
    uint32_t switches{ManyToOne().switches};
    uint32_t payload{ManyToOne().payload};
    std::string rate{"100Gbps"};
    std::string delay{"3us"};
    std::string stagger{"0us"};
    std::string warmUp{"20ms"};
    std::string measured{"20ms"};
    uint32_t seed{1};
    bool json{false};
};

/// Parses the text of an option; throws ConfigError with the option's name.
template <typename Parse>
auto
ValueOf(const char* option, const std::string& text, const Parse& parse)
{
    try
    {
        return parse(text);
    }
    catch (const ValueError& error)
    {
        throw ConfigError(option, error.Problem(), error.Allowed(), error.Remedy());
    }
}

const PlanField&
ControlField()
{
    const PlanField* field = FindPlanField("network.control");
    SCALEACROSS_INVARIANT(field != nullptr, "network.control is no plan field");
    return *field;
}

std::vector<CongestionControl>
ControlsOf(const FairnessCommand& options)
{
    std::vector<CongestionControl> controls;
    for (const std::string& word : options.controls)
    {
        Plan plan;
        try
        {
            ControlField().set(plan, word);
        }
        catch (const ConfigError& error)
        {
            throw ConfigError("--control", error.Problem(), error.Allowed(), error.Remedy());
        }
        controls.push_back(plan.network.control);
    }
    return controls;
}

ManyToOne
WorkOf(const FairnessCommand& options)
{
    ManyToOne work;
    work.senders = options.senders;
    work.switches = options.switches;
    work.payload = options.payload;
    work.bitRate = static_cast<uint64_t>(ValueOf("--rate", options.rate, ParseBitRate).Value());
    work.delay = ValueOf("--delay", options.delay, ParseDuration);
    work.stagger = ValueOf("--stagger", options.stagger, ParseDuration);
    work.warmUp = ValueOf("--warm-up", options.warmUp, ParseDuration);
    work.measured = ValueOf("--measured", options.measured, ParseDuration);
    work.seed = options.seed;
    work.Validate();
    return work;
}

Json
ToJson(const ManyToOne& work, const ManyToOneResult& result)
{
    Json json = {{"control", ToString(work.control)},
                 {"senders", work.senders},
                 {"switches", work.switches},
                 {"payload", work.payload},
                 {"seed", work.seed},
                 {"rates_gbps", result.rates},
                 {"jain", result.jain},
                 {"share", result.share},
                 {"queue_mean_bytes", result.queueMean},
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
    ManyToOne work = WorkOf(options);
    const std::vector<CongestionControl> controls = ControlsOf(options);
    ns3::Time::SetResolution(ns3::Time::PS);
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
    return Exit::Done;
}

} // namespace

void
AddFairness(CLI::App& app, CommandAction& chosen)
{
    auto options = std::make_shared<FairnessCommand>();
    CLI::App* command = app.add_subcommand(
        "fairness",
        "how congestion controls share a port among senders to one host, at packet level");
    command
        ->add_option("--control",
                     options->controls,
                     "one or more, separated by commas: " + ControlField().allowed)
        ->delimiter(',')
        ->required();
    command->add_option("--senders", options->senders, "hosts that send to one")
        ->capture_default_str();
    command->add_option("--switches", options->switches, "in a row, senders on the first")
        ->capture_default_str();
    command->add_option("--payload", options->payload, "bytes of a packet")->capture_default_str();
    command->add_option("--rate", options->rate, "of every wire")->capture_default_str();
    command->add_option("--delay", options->delay, "of every wire")->capture_default_str();
    command->add_option("--stagger", options->stagger, "between the starts of two senders")
        ->capture_default_str();
    command->add_option("--warm-up", options->warmUp, "from the beginning to the measurement")
        ->capture_default_str();
    command->add_option("--measured", options->measured, "length of the measurement")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "of marking")
        ->check(CLI::Range(1U, 4294967295U))
        ->capture_default_str();
    command->add_flag("--json", options->json, "print a JSON object per control and line");
    command->callback([options, &chosen] { chosen = [options] { return Fairness(*options); }; });
}

} // namespace scaleacross
