// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/report-text.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// The busiest of what ranks share, and of the ports that each has for itself.
std::string
ResourcesText(std::vector<ResourceReport> resources)
{
    std::stable_sort(
        resources.begin(),
        resources.end(),
        [](const ResourceReport& a, const ResourceReport& b) { return a.busy > b.busy; });
    Table table({{"busiest links", Table::Align::Left}, {"busy"}, {"bytes"}, {"capacity"}});
    size_t shown = 0;
    for (const auto& [shared, most] : {std::pair(true, 4), {false, 2}})
    {
        int left = most;
        for (const ResourceReport& resource : resources)
        {
            if (resource.shared == shared && left-- > 0)
            {
                shown++;
                table.Add({resource.name,
                           PercentText(resource.busy),
                           ToString(resource.bytes),
                           ToString(resource.capacity)});
            }
        }
    }
    return shown == 0 ? "" : "\n" + table.Text();
}

std::string
ReportText(const RunReport& report)
{
    // Of traces neither the model is known nor what it keeps.
    const bool isOfModel = !report.memory.empty();
    std::string text = fmt::format("{} per iteration{} ({} engine, {} measured after {} warm-up)\n",
                                   ToString(report.iterationTime),
                                   isOfModel ? ", MFU " + PercentText(report.mfu) : "",
                                   report.engine,
                                   report.iterations,
                                   report.warmup);
    text += report.KnowsParts() ? fmt::format("compute {}, bubble {}, exposed communication {}, ",
                                              ToString(report.computeTime),
                                              PercentText(report.bubbleFraction),
                                              ToString(report.exposedComm))
                                : "";
    text += isOfModel ? fmt::format("memory {}, ", ToString(report.memoryMax)) : "";
    text += fmt::format("{} across buildings\n\n", ToString(report.crossBuildingBytes));
    Table table(
        {{"class", Table::Align::Left}, {"busy"}, {"exposed"}, {"bytes"}, {"across buildings"}});
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const ClassReport& part = report.classes[c];
        if (part.bytes.Count() > 0)
        {
            table.Add({ToString(static_cast<CommClass>(c)),
                       report.KnowsBusy() ? ToString(part.busy) : "-",
                       report.KnowsParts() ? ToString(part.exposed) : "-",
                       ToString(part.bytes),
                       ToString(part.crossBytes)});
        }
    }
    text += table.Text();
    text += ResourcesText(report.resources);
    if (report.correction)
    {
        const CorrectionReport& correction = *report.correction;
        text += fmt::format("\ncorrected by {}: {}; {} to {} by their intervals\n",
                            correction.set,
                            CoverageText(correction),
                            ToString(correction.low),
                            ToString(correction.high));
        for (const std::string& missing : correction.missing)
        {
            text += "  as the model has it: " + missing + "\n";
        }
        for (const std::string& unreached : correction.unreached)
        {
            text += "  not reached: " + unreached + "\n";
        }
    }
    if (report.fastForward)
    {
        text += "\n" + FastForwardText(*report.fastForward) + "\n";
    }
    const NetworkReport& network = report.network;
    if (network.packetsSent > 0)
    {
        text += fmt::format("\npackets: {} sent, {} delivered, {} dropped, {} in flight; {} "
                            "retransmitted, {} pauses, collision factor {:.2f}\n",
                            network.packetsSent,
                            network.packetsDelivered,
                            network.packetsDropped,
                            network.packetsInFlight,
                            network.retransmissions,
                            network.pauses,
                            network.collisionFactor);
    }
    return text;
}

} // namespace

Table
RunTable(const std::vector<std::string>& more)
{
    std::vector<Table::Column> columns = {{"#"},
                                          {"plan", Table::Align::Left},
                                          {"iteration"},
                                          {"MFU"},
                                          {"exposed"},
                                          {"bubble"},
                                          {"memory"},
                                          {"across buildings"}};
    for (const auto& name : more)
    {
        columns.push_back({name});
    }
    return Table(columns);
}

void
AddRow(Table& table,
       const std::string& name,
       const std::string& label,
       const Evaluation& evaluation,
       const std::vector<std::string>& more)
{
    std::vector<std::string> cells{name, label};
    if (const auto* report = std::get_if<RunReport>(&evaluation))
    {
        const double exposed = static_cast<double>(report->exposedComm.Ps()) /
                               static_cast<double>(report->iterationTime.Ps());
        cells.insert(cells.end(),
                     {ToString(report->iterationTime),
                      PercentText(report->mfu),
                      report->KnowsParts() ? PercentText(exposed) : "-",
                      report->KnowsParts() ? PercentText(report->bubbleFraction) : "-",
                      ToString(report->memoryMax),
                      ToString(report->crossBuildingBytes)});
    }
    else
    {
        const auto* infeasible = std::get_if<Infeasible>(&evaluation);
        cells.push_back(infeasible != nullptr ? infeasible->reason
                                              : std::get<Failure>(evaluation).reason);
        cells.insert(cells.end(), 5, "-");
    }
    cells.insert(cells.end(), more.begin(), more.end());
    table.Add(cells);
}

std::string
RunText(const std::string& label, const Evaluation& evaluation)
{
    if (const auto* report = std::get_if<RunReport>(&evaluation))
    {
        return label + "\n" + ReportText(*report);
    }
    if (const auto* infeasible = std::get_if<Infeasible>(&evaluation))
    {
        return label + "\ncannot run (" + infeasible->reason + "): " + infeasible->detail + "\n";
    }
    const auto& failure = std::get<Failure>(evaluation);
    return label + "\nfailed (" + failure.reason + "): " + failure.detail + "\n";
}

std::string
FastForwardText(const FastForwardReport& fastForward)
{
    if (fastForward.skips == 0)
    {
        return "fast-forward: nothing was steady for long enough to be skipped";
    }
    return fmt::format(
        "fast-forward: {} skipped in {} pieces; {} simulated to compare ({} pieces): "
        "off by {:.2g} %, at worst {:.2g} %",
        ToString(fastForward.skipped),
        fastForward.skips,
        ToString(fastForward.verified),
        fastForward.checks,
        fastForward.error * 100,
        fastForward.worst * 100);
}

std::string
CoverageText(const CorrectionReport& correction)
{
    std::string text =
        fmt::format("{} of {} operations", correction.covered, correction.operations);
    return correction.covered == correction.operations
               ? text
               : text + fmt::format(", the others {} of the time of all",
                                    PercentText(correction.uncovered));
}

std::string
WarningText(const std::vector<std::string>& warnings)
{
    std::string text;
    for (const std::string& warning : warnings)
    {
        text += "Warning: " + warning + ".\n";
    }
    return text;
}

} // namespace scaleacross
