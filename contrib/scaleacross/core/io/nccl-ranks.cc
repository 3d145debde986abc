// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-ranks.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// The word behind `key`, or an empty one.
std::string
After(const std::vector<std::string>& words, const std::string& key)
{
    const auto found = std::find(words.begin(), words.end(), key);
    return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

std::string
Ranks(size_t count)
{
    return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

} // namespace

bool
NcclRanks::IsLine(const std::vector<std::string>& words)
{
    const std::string rank = After(words, "Rank");
    return IsDigits(rank) && !After(words, "on").empty() && !After(words, "device").empty();
}

void
NcclRanks::SetPerProcess(uint32_t ranks, const std::string& where)
{
    m_perProcess = ranks;
    m_perProcessAt = where;
}

void
NcclRanks::AddLine(const std::vector<std::string>& words, const std::string& where)
{
    const auto rank = ParseAt(where, [&] { return ParseWhole(After(words, "Rank"), 0, kMost); });
    const std::string& last = words.back();
    if (last.size() >= 3 && last.compare(last.size() - 3, 3, "...") == 0)
    {
        m_cutAt = where;
    }
    Add(static_cast<uint32_t>(rank),
        After(words, "Group"),
        After(words, "Pid"),
        After(words, "on"),
        where);
}

void
NcclRanks::Add(uint32_t rank,
               const std::string& group,
               const std::string& process,
               const std::string& host,
               const std::string& where)
{
    if (m_where.empty())
    {
        m_where = where;
    }
    if (!m_ranks.insert(rank).second)
    {
        throw ConfigError(where,
                          "rank " + std::to_string(rank) + " is listed a second time",
                          "the devices of one run, every rank once",
                          "give the log of one run; processes that do not know of each other "
                          "need nccl-tests built with MPI=1");
    }
    m_groups[group]++;
    m_hosts.insert(host);
    if (!process.empty())
    {
        m_processes[{host, process}]++;
    }
}

void
NcclRanks::CheckWhole() const
{
    const auto fail = [](const std::string& where, const std::string& problem) {
        throw ConfigError(where,
                          "the list of devices is not whole: " + problem,
                          "a line for every rank of the run",
                          "give all of it, or leave all of it out");
    };
    if (!m_cutAt.empty())
    {
        fail(m_cutAt, "nccl-tests had no room for the rest of a process's");
    }
    for (uint32_t rank = 0; rank < m_ranks.size(); rank++)
    {
        if (m_ranks.count(rank) == 0)
        {
            fail(m_where,
                 "it has rank " + std::to_string(*m_ranks.rbegin()) + ", and none of rank " +
                     std::to_string(rank));
        }
    }
    for (const auto& [process, ranks] : m_processes)
    {
        if (m_perProcess > 0 && ranks != m_perProcess)
        {
            fail(m_where,
                 "process " + process.second + " on " + process.first + " has " + Ranks(ranks) +
                     " in it, and " + std::to_string(m_perProcess) + " by " + m_perProcessAt);
        }
    }
    if (m_perProcess > 0 && m_ranks.size() % m_perProcess != 0)
    {
        fail(m_where,
             "it has " + Ranks(m_ranks.size()) + ", and every process " +
                 std::to_string(m_perProcess) + " by " + m_perProcessAt);
    }
}

NcclRankCounts
NcclRanks::Count() const
{
    CheckWhole();
    NcclRankCounts counts;
    counts.groups = static_cast<uint32_t>(m_groups.size());
    counts.servers = static_cast<uint32_t>(m_hosts.size());
    for (const auto& [group, ranks] : m_groups)
    {
        if (counts.ranks > 0 && counts.ranks != ranks)
        {
            throw ConfigError(m_where,
                              "groups have " + std::to_string(counts.ranks) + " and " +
                                  std::to_string(ranks) + " ranks",
                              "groups of one size",
                              "give the log of a run whose groups are of one size");
        }
        counts.ranks = ranks;
    }
    return counts;
}

} // namespace scaleacross
