// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_RANKS_H
#define SCALEACROSS_NCCL_RANKS_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Counts of a list of ranks.
struct NcclRankCounts
{
    uint32_t ranks{0}; //!< of a group; 0: there is no list
    uint32_t groups{0};
    uint32_t servers{0};
};

/**
 * The list of ranks and their devices that a program of nccl-tests prints before its table:
 *
 *     #  Rank  0 Group  0 Pid   4711 on    alpha00 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
 *
 * Releases before 2.13.4 have no groups, 1.0 has no processes.
 */
class NcclRanks
{
  public:
    static constexpr uint32_t kMost = 1U << 30; //!< number of a rank, which adds up in 32 bits

    /// Whether these words have a line of the list in them.
    static bool IsLine(const std::vector<std::string>& words);

    /// Takes the ranks of a process, threads x GPUs of each; `where` is the line that says so.
    void SetPerProcess(uint32_t ranks, const std::string& where);

    /// Adds a line. Domain: IsLine(). Throws ConfigError for a rank that is there already.
    void AddLine(const std::vector<std::string>& words, const std::string& where);

    /// Adds a rank. Throws ConfigError for one that is there already.
    void Add(uint32_t rank,
             const std::string& group,
             const std::string& process,
             const std::string& host,
             const std::string& where);

    /// How many have been added.
    size_t Size() const
    {
        return m_ranks.size();
    }

    /// The place of the first line; empty: there is no list.
    const std::string& Where() const
    {
        return m_where;
    }

    /// Throws ConfigError for a list that is not whole, and for groups of several sizes.
    NcclRankCounts Count() const;

  private:
    void CheckWhole() const;

    std::string m_where;
    std::string m_cutAt; //!< a line that ends in "...", where nccl-tests had no more room
    uint32_t m_perProcess{0};
    std::string m_perProcessAt;
    std::set<uint32_t> m_ranks;
    std::map<std::string, uint32_t> m_groups;                            //!< ranks of each
    std::map<std::pair<std::string, std::string>, uint32_t> m_processes; //!< by host and number
    std::set<std::string> m_hosts;
};

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_RANKS_H
