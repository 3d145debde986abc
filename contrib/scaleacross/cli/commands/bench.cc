// SPDX-License-Identifier: GPL-2.0-only

#include "cli/bench-plans.h"
#include "cli/command.h"
#include "cli/field-option.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/read-study.h"
#include "core/spec/plan-fields.h"
#include "helper/bench/standard-run.h"
#include "helper/bench/standard-work.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace scaleacross
{

namespace
{

/// What is no work of the packet engine: what a search pays for its plans.
const std::string kPlans = "plans";

struct BenchCommand
{
    std::string scenario;
    std::string study;
    uint32_t stride{16};
    bool json{false};
    bool check{false};
    uint32_t repeat{1};
    uint32_t seed{1};
    uint32_t hosts{0};
    uint32_t paths{0};
    uint32_t payload{0};
    uint32_t ackInterval{1};
    std::string size;
    std::string multipath{Multipath().Name()};
    std::string control{CongestionControl().Name()};
    std::string transport{Transport().Name()};
    std::string span;
    std::string engine{"windows"};
    std::string scheduler{StandardRun::Options().scheduler};
};

/// A run and what it cost.
struct Timed
{
    StandardResult result;
    double cpu{0};    //!< s, user and system: building, running and taking down
    double runCpu{0}; //!< s, of it Simulator::Run and the checks after it
};

rusage
Usage()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

/// User and system time of this process so far.
double
CpuSeconds()
{
    const rusage usage = Usage();
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Most memory this process has ever had resident.
uint64_t
PeakResidentBytes()
{
    return static_cast<uint64_t>(Usage().ru_maxrss) * 1024; // Linux counts KiB
}

StandardWork
WorkOf(const BenchCommand& options)
{
    StandardWork work = MakeStandardWork(options.scenario, options.hosts);
    if (options.paths > 0)
    {
        SetPaths(work, options.paths);
    }
    if (options.payload > 0)
    {
        work.payload = options.payload;
    }
    work.seed = options.seed;
    work.ackInterval = options.ackInterval;
    Plan plan;
    SetField(plan, "network.multipath", options.multipath);
    SetField(plan, "network.control", options.control);
    SetField(plan, "network.transport", options.transport);
    plan.network.recovery = "selective-repeat"; // it serves every other choice
    if (const auto conflict = plan.network.FindConflict())
    {
        throw conflict->At(OptionOf(conflict->Where()));
    }
    work.multipath = plan.network.multipath;
    work.control = plan.network.control;
    work.transport = plan.network.transport;
    if (!options.span.empty())
    {
        SetSpanDelay(work, ParseAt("--span", [&] { return ParseDuration(options.span); }));
    }
    if (!options.size.empty())
    {
        work.size = ParseAt("--size", [&] { return ParseBytes(options.size); });
        if (work.size == Bytes())
        {
            throw ConfigError("--size", "0 bytes are no work", "1B or more", "");
        }
    }
    return work;
}

Timed
RunOnce(const StandardWork& work, const StandardRun::Options& options)
{
    Timed timed;
    const double begin = CpuSeconds();
    {
        StandardRun run(work, options);
        const double built = CpuSeconds();
        run.Execute();
        timed.runCpu = CpuSeconds() - built;
        timed.result = run.GetResult();
    }
    timed.cpu = CpuSeconds() - begin;
    return timed;
}

/// As often as asked for; the one whose CPU time is the median (the smaller of two in the middle).
Timed
RunRepeatedly(const StandardWork& work, const BenchCommand& options)
{
    std::vector<Timed> runs;
    for (uint32_t i = 0; i < options.repeat; i++)
    {
        runs.push_back(
            RunOnce(work, {options.scheduler, options.engine == "windows", options.check}));
        SCALEACROSS_INVARIANT(runs.back().result.completions == runs.front().result.completions,
                              "the same work gave other completion times the second time");
    }
    const auto middle = runs.begin() + (options.repeat - 1) / 2;
    std::nth_element(runs.begin(), middle, runs.end(), [](const Timed& a, const Timed& b) {
        return a.cpu < b.cpu;
    });
    return *middle;
}

Json
ToJson(const std::vector<Duration>& completions)
{
    std::vector<Duration> sorted = completions;
    std::sort(sorted.begin(), sorted.end());
    return {{"min", sorted.front().Us()},
            {"median", sorted[sorted.size() / 2].Us()},
            {"max", sorted.back().Us()}};
}

Json
ToJson(const BenchCommand& options, const StandardWork& work, const Timed& timed)
{
    const StandardResult& result = timed.result;
    const double hops = static_cast<double>(result.dataPacketHops);
    Json json = {{"scenario", work.name},
                 {"engine", options.engine},
                 {"scheduler", options.scheduler},
                 {"multipath", ToString(work.multipath)},
                 {"control", ToString(work.control)},
                 {"transport", ToString(work.transport)},
                 {"seed", work.seed},
                 {"repeat", options.repeat},
                 {"flows", work.flows.size()},
                 {"flow_bytes", work.size.Count()},
                 {"data_packet_hops", result.dataPacketHops},
                 {"cpu_s", timed.cpu},
                 {"run_cpu_s", timed.runCpu},
                 {"data_packet_hops_per_cpu_s", hops / timed.cpu},
                 {"events_per_hop", static_cast<double>(result.events) / hops},
                 {"peak_rss_bytes", PeakResidentBytes()},
                 {"completion_us", ToJson(result.completions)},
                 {"reordered", result.reordered},
                 {"dropped", result.dropped},
                 {"pause_frames", result.pauseFrames}};
    if (result.peakOnWires)
    {
        json["checked"] = true;
        json["peak_on_wires"] = *result.peakOnWires;
    }
    return json;
}

/// One line per key; a unit that is part of a key stays there.
std::string
Text(const Json& json)
{
    Table table({{"figure", Table::Align::Left}, {"value"}});
    for (const auto& [key, value] : json.items())
    {
        if (key == "completion_us")
        {
            table.Add({key + " min/median/max",
                       fmt::format("{:.3f}/{:.3f}/{:.3f}",
                                   value.at("min").get<double>(),
                                   value.at("median").get<double>(),
                                   value.at("max").get<double>())});
        }
        else if (value.is_number_float())
        {
            const double number = value.get<double>();
            table.Add(
                {key,
                 number < 1000 ? fmt::format("{:.4f}", number) : fmt::format("{:.0f}", number)});
        }
        else
        {
            table.Add({key, value.is_string() ? value.get<std::string>() : value.dump()});
        }
    }
    return table.Text();
}

Exit
BenchThePlans(const BenchCommand& options)
{
    const Study study = options.study.empty() ? StandardStudy() : ReadStudy(options.study);
    const Json json = BenchPlans(study, options.repeat, options.stride);
    std::cout << (options.json ? json.dump(2) + "\n" : Text(json));
    return Exit::Done;
}

/// Options of the other kind of work say nothing here.
void
ExpectNone(const Command& command,
           const std::vector<std::string>& options,
           const std::string& what,
           const std::string& allowed)
{
    for (const std::string& option : options)
    {
        if (command.IsGiven(option))
        {
            throw ConfigError(option, "says nothing of " + what, allowed, "leave it out");
        }
    }
}

Exit
Bench(const BenchCommand& options)
{
    const StandardWork work = WorkOf(options);
    ns3::Time::SetResolution(ns3::Time::PS);
    const Json json = ToJson(options, work, RunRepeatedly(work, options));
    std::cout << (options.json ? json.dump(2) + "\n" : Text(json));
    return Exit::Done;
}

} // namespace

void
AddBench(CommandLine& program)
{
    auto options = std::make_shared<BenchCommand>();
    const std::string scenarios = AnyOf(StandardWorkNames());
    Command command =
        program.Add("bench",
                    "time the packet engine on standard work, or what a search pays for its plans");
    command.Add("SCENARIO", options->scenario, scenarios + ", or " + kPlans).Required();
    command.Add("--study",
                options->study,
                "of plans: the study whose space is looked at; default: Llama 4 Maverick over two "
                "buildings");
    command
        .Add("--stride",
             options->stride,
             "of plans: of how many that can run one is replayed and run")
        .Between(1, 1000000)
        .ShowDefault();
    command.Flag("--json", options->json, "print JSON instead of a table");
    command.Add("--repeat", options->repeat, "runs, of which the median is printed")
        .Between(1, 1000)
        .ShowDefault();
    command.Add("--seed", options->seed, "seed of the switches' choice of paths")
        .Between(1, 4294967295)
        .ShowDefault();
    command
        .Add("--hosts",
             options->hosts,
             "hosts, of an incast its senders; default: 64, of an incast 16")
        .Between(1, 1000000);
    command
        .Add("--paths",
             options->paths,
             "of a permutation: spines, and hosts of a leaf; default: the square root "
             "of the hosts")
        .Between(1, 1000000);
    command
        .Add("--payload",
             options->payload,
             "bytes of a packet; default: 1000, of permutation-400g 4096")
        .Between(1, 4096);
    command.Add("--size", options->size, "bytes of every flow, such as 1MiB");
    command.Add("--multipath", options->multipath, "paths: " + FieldOf("network.multipath").allowed)
        .ShowDefault();
    command
        .Add("--control",
             options->control,
             "congestion control: " + FieldOf("network.control").allowed)
        .ShowDefault();
    command
        .Add("--transport",
             options->transport,
             "roce: with PFC; infiniband: with credits; trimming: neither, switches cut "
             "off payload. Packets of the same sizes")
        .ShowDefault();
    command.Add("--span",
                options->span,
                "delay of the wires between buildings, such as 1us; long-haul: 1ms");
    command.Add("--ack-interval", options->ackInterval, "data packets per ACK")
        .Between(1, 1000000)
        .ShowDefault();
    command
        .Add("--engine",
             options->engine,
             "exact: an event for every arrival; windows: one for all that is due within a "
             "wire's delay, with the same results")
        .OneOf({"exact", "windows"})
        .ShowDefault();
    command.Add("--scheduler", options->scheduler, "the Simulator's event list").ShowDefault();
    command.Flag("--check",
                 options->check,
                 "count packet-hops and packets in flight by trace sinks as well; slower");
    command.Does([options, command] {
        std::vector<std::string> words = StandardWorkNames();
        words.push_back(kPlans);
        if (std::find(words.begin(), words.end(), options->scenario) == words.end())
        {
            const std::string nearest = Nearest(options->scenario, words);
            throw ConfigError("SCENARIO",
                              "there is no such work: " + Quoted(options->scenario),
                              AnyOf(words),
                              nearest.empty() ? "" : "did you mean " + nearest + "?");
        }
        if (options->scenario != kPlans)
        {
            ExpectNone(command, {"--study", "--stride"}, options->scenario, "options of packets");
            return Bench(*options);
        }
        ExpectNone(command,
                   {"--seed",
                    "--hosts",
                    "--paths",
                    "--payload",
                    "--size",
                    "--multipath",
                    "--control",
                    "--transport",
                    "--span",
                    "--ack-interval",
                    "--engine",
                    "--scheduler",
                    "--check"},
                   kPlans,
                   "--study, --stride, --repeat, --json");
        return BenchThePlans(*options);
    });
}

} // namespace scaleacross
