// SPDX-License-Identifier: GPL-2.0-only

#include "cli/measured-log.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

namespace scaleacross
{

namespace
{

/// From here on bandwidth counts for more than latency, on the networks of the table of measured
/// collectives.
constexpr Bytes g_large{16 << 20};

/// A study's servers with more may have several hosts, as racks with one scale-up network do.
constexpr uint32_t g_mostGpusOfHost = 8;

std::string
Number(uint32_t count, const std::string& what)
{
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Domain: there are some.
double
Percentile(const std::vector<double>& ordered, double share)
{
    const double place = share * (static_cast<double>(ordered.size()) - 1);
    const auto low = static_cast<size_t>(std::floor(place));
    const size_t high = std::min(low + 1, ordered.size() - 1);
    return ordered[low] + (place - static_cast<double>(low)) * (ordered[high] - ordered[low]);
}

/// Domain: the log lists its devices.
bool
Fits(const NcclLog& log, const LogCounterpart& here)
{
    const bool hosts = !here.ofMachine && here.perServer > g_mostGpusOfHost;
    return log.ranks == here.members && log.groups == here.groups &&
           (log.servers == here.servers || (hosts && log.servers > here.servers));
}

/// What to do about a log that does not fit.
std::string
RemedyOf(const NcclLog& log, const LogCounterpart& here, const CounterpartElsewhere& elsewhere)
{
    const uint32_t all = log.ranks * log.groups;
    if (all % log.servers != 0)
    {
        return "servers here have equally many GPUs, and those of the log do not: take another log";
    }
    const uint32_t each = all / log.servers;
    const std::string gpus = fmt::format("{}, {} in each server", Number(all, "GPU"), each);
    if (!here.ofMachine)
    {
        return "take a study of " + gpus + ", or another --group";
    }
    std::vector<CollectiveGroup> groups{here.group};
    for (size_t i = 0; i < CollectiveGroupWords().size(); i++)
    {
        groups.push_back(static_cast<CollectiveGroup>(i));
    }
    for (const CollectiveGroup group : groups)
    {
        const auto other = elsewhere(log.servers, each, group);
        if (other && Fits(log, *other))
        {
            return fmt::format("say --nodes {} --gpus-per-node {}", log.servers, each) +
                   (group == here.group ? "" : " --group " + ToString(group));
        }
    }
    return "this machine has no such servers: take another one, or a study, of " + gpus;
}

} // namespace

CollectiveOp
OperationOf(const NcclLog& log, const std::string& path, std::optional<CollectiveOp> given)
{
    const auto words = [] {
        std::vector<std::string> logged;
        for (const std::string& word : CollectiveOpWords())
        {
            if (word != ToString(CollectiveOp::Dispatch) && word != ToString(CollectiveOp::Combine))
            {
                logged.push_back(word);
            }
        }
        return logged;
    };
    if (given == CollectiveOp::Dispatch || given == CollectiveOp::Combine)
    {
        throw ConfigError("--op",
                          ToString(*given) + ", and nccl-tests has none",
                          AnyOf(words()),
                          "leave --like out");
    }
    if (!log.op && !given)
    {
        throw ConfigError("--like " + path,
                          "neither a line nor the name of the file says which operation it is of",
                          AnyOf(words()),
                          "give it with --op");
    }
    // A name of a file is worth less than what is asked for.
    if (given && log.opByLine && *log.op != *given)
    {
        throw ConfigError("--op",
                          ToString(*given) + ", and the log is of " + ToString(*log.op) + " (" +
                              log.opAt + ")",
                          "the operation of the log",
                          "leave --op out");
    }
    return given.value_or(log.op.value_or(CollectiveOp::AllReduce));
}

void
CheckRanks(const NcclLog& log, const LogCounterpart& here, const CounterpartElsewhere& elsewhere)
{
    if (log.ranks == 0 || Fits(log, here))
    {
        return;
    }
    const auto text = [](uint32_t ranks, uint32_t groups, uint32_t servers) {
        return Number(groups, "group") + " of " + Number(ranks, "rank") + " on " +
               Number(servers, "server");
    };
    throw ConfigError(log.ranksAt,
                      "the log has " + text(log.ranks, log.groups, log.servers),
                      text(here.members, here.groups, here.servers) + ", as there are here",
                      RemedyOf(log, here, elsewhere));
}

void
CheckBandwidths(const NcclLog& log, CollectiveOp op, const LogCounterpart& here)
{
    const std::optional<RankRange> range = RanksByBandwidth(log, op);
    const auto within = [&range](uint32_t ranks) {
        return ranks >= range->least && (ranks <= range->most || range->most == 0);
    };
    if (!range || within(log.ranks == 0 ? here.members : log.ranks))
    {
        return;
    }
    const std::string those = range->least == range->most ? Number(range->least, "rank")
                              : range->most == 0
                                  ? Number(range->least, "rank") + " or more"
                                  : fmt::format("{} to {} ranks", range->least, range->most);
    if (log.ranks > 0)
    {
        throw ConfigError(log.ranksAt,
                          "the list of devices is not that of the table: a group has " +
                              Number(log.ranks, "rank") + " in it, and busbw x time / size at " +
                              range->where + " is that of " + those,
                          "a line for every rank of the run",
                          "give all of the list, or leave all of it out");
    }
    throw ConfigError(range->where,
                      "busbw x time / size is that of " + those,
                      Number(here.members, "rank") + " in a group, as there are here",
                      "take the study, --nodes, --gpus-per-node or --group of as many ranks; or "
                      "the right --op, if it is of another operation");
}

const MeasuredSize&
MeasuredAt(const NcclLog& log, Bytes bytes)
{
    const auto found =
        std::find_if(log.sizes.begin(), log.sizes.end(), [bytes](const MeasuredSize& size) {
            return size.bytes == bytes;
        });
    SCALEACROSS_INVARIANT(found != log.sizes.end(), "the log has no such size");
    return *found;
}

std::string
ErrorSummary(const std::vector<std::pair<Bytes, double>>& errors)
{
    std::string text;
    for (const bool large : {true, false})
    {
        std::vector<double> sizes;
        for (const auto& [bytes, error] : errors)
        {
            if ((bytes >= g_large) == large)
            {
                sizes.push_back(std::abs(error));
            }
        }
        if (sizes.empty())
        {
            continue;
        }
        std::sort(sizes.begin(), sizes.end());
        text += fmt::format("# Error of {} {}: median {:.1f} %, 90th percentile {:.1f} %\n",
                            Number(static_cast<uint32_t>(sizes.size()), "size"),
                            large ? "of 16 MiB and more" : "below 16 MiB",
                            100 * Percentile(sizes, 0.5),
                            100 * Percentile(sizes, 0.9));
    }
    return text;
}

} // namespace scaleacross
