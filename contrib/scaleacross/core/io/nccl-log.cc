// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-log.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

/// Names of programs, without their ending, and what they do.
const std::map<std::string, CollectiveOp>&
Programs()
{
    static const std::map<std::string, CollectiveOp> programs = {
        {"all_reduce", CollectiveOp::AllReduce},
        {"all_gather", CollectiveOp::AllGather},
        {"reduce_scatter", CollectiveOp::ReduceScatter},
        {"alltoall", CollectiveOp::AllToAll},
        {"sendrecv", CollectiveOp::SendReceive}};
    return programs;
}

bool
IsWhole(const std::string& cell)
{
    return !cell.empty() &&
           std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A line without what a launcher writes before it.
std::string_view
Untagged(std::string_view line)
{
    const auto skip = [&line](const char* characters) {
        const size_t at = line.find_first_not_of(characters);
        line.remove_prefix(at == std::string_view::npos ? line.size() : at);
    };
    skip(" \t");
    const size_t open = line.find(">:");
    if (!line.empty() && line.front() == '[' && open != std::string_view::npos)
    {
        line.remove_prefix(open + 2); // [job,rank]<stdout>:
        skip(" \t");
    }
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && IsWhole(std::string(line.substr(0, colon))) &&
        colon + 1 < line.size() && (line[colon + 1] == ' ' || line[colon + 1] == '\t'))
    {
        line.remove_prefix(colon + 1); // rank:
    }
    return line;
}

/// Its words; '#' by itself is none.
std::vector<std::string>
Words(std::string_view line)
{
    std::istringstream stream{std::string(Untagged(line))};
    std::vector<std::string> words{std::istream_iterator<std::string>(stream),
                                   std::istream_iterator<std::string>()};
    if (!words.empty() && words.front() == "#")
    {
        words.erase(words.begin());
    }
    return words;
}

size_t
Position(const std::vector<std::string>& words, const std::string& word)
{
    return static_cast<size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

/// Reads line by line.
class LogReader
{
  public:
    explicit LogReader(const std::string& name)
        : m_name(name)
    {
    }

    NcclLog Read(std::string_view text)
    {
        while (!text.empty())
        {
            const size_t end = std::min(text.find('\n'), text.size());
            m_line++;
            ReadLine(Words(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (m_head.empty())
        {
            throw ConfigError(m_name,
                              "there is no table of nccl-tests",
                              "a line with the columns size, count, type, time, algbw and busbw, "
                              "and a line for each size",
                              "give what all_reduce_perf or the like has printed");
        }
        if (m_log.sizes.empty())
        {
            throw ConfigError(m_headAt,
                              "the table has no line of a size above 0",
                              "a line for each size",
                              "has the run ended before its first result?");
        }
        CountRanks();
        if (!m_log.op)
        {
            NameOperation();
        }
        return std::move(m_log);
    }

  private:
    std::string Here() const
    {
        return m_name + ":" + std::to_string(m_line);
    }

    void ReadLine(const std::vector<std::string>& words)
    {
        if (words.empty())
        {
            return;
        }
        if (words.size() > 3 && words[0] == "Collective" && words[1] == "test" &&
            words[2] == "starting:")
        {
            ReadOperation(words[3]);
        }
        else if (words.size() > 3 && words[0] == "Rank" && IsWhole(words[1]))
        {
            ReadRank(words);
        }
        else if (words.size() > 4 && words[0] == "size" && words[1] == "count")
        {
            ReadHead(words);
        }
        else if (!m_head.empty() && IsWhole(words.front()))
        {
            ReadSize(words);
        }
    }

    void ReadOperation(const std::string& program)
    {
        std::string word = std::filesystem::path(program).filename().string();
        word = word.substr(0, word.find("_perf"));
        const auto known = Programs().find(word);
        if (known == Programs().end())
        {
            std::vector<std::string> programs;
            for (const auto& [one, op] : Programs())
            {
                programs.push_back(one + "_perf");
            }
            throw ConfigError(Here(),
                              Quoted(program) + " does no operation that is modelled",
                              AnyOf(programs),
                              "give a log of one of these");
        }
        m_log.op = known->second;
        m_log.opAt = Here();
        m_log.opByLine = true;
    }

    /// By the file's name: all_reduce-4-nodes.log.
    void NameOperation()
    {
        std::string name = std::filesystem::path(m_name).filename().string();
        std::replace(name.begin(), name.end(), '-', '_');
        for (const auto& [word, op] : Programs())
        {
            const size_t at = name.find(word);
            const char next = at == std::string::npos || at + word.size() == name.size()
                                  ? '.'
                                  : name[at + word.size()];
            // alltoallv is another one.
            if (at != std::string::npos && (next == '.' || next == '_'))
            {
                m_log.op = op;
                m_log.opAt = m_name;
            }
        }
    }

    void ReadRank(const std::vector<std::string>& words)
    {
        const auto rank = ParseAt(Here(), [&] { return ParseWhole(words[1], 0, 1U << 30); });
        const size_t on = Position(words, "on");
        if (on + 1 >= words.size())
        {
            return; // a word of something else
        }
        const size_t group = Position(words, "Group");
        if (m_log.ranksAt.empty())
        {
            m_log.ranksAt = Here();
        }
        if (!m_ranks.insert(rank).second)
        {
            throw ConfigError(Here(),
                              "rank " + words[1] + " is listed a second time",
                              "the devices of one run, every rank once",
                              "give the log of one run; processes that do not know of each other "
                              "need nccl-tests built with MPI=1");
        }
        m_groups[group + 1 < words.size() ? words[group + 1] : ""]++;
        m_hosts.insert(words[on + 1]);
    }

    void CountRanks()
    {
        m_log.groups = static_cast<uint32_t>(m_groups.size());
        m_log.servers = static_cast<uint32_t>(m_hosts.size());
        for (const auto& [group, ranks] : m_groups)
        {
            if (m_log.ranks > 0 && m_log.ranks != ranks)
            {
                throw ConfigError(m_log.ranksAt,
                                  "groups have " + std::to_string(m_log.ranks) + " and " +
                                      std::to_string(ranks) + " ranks",
                                  "groups of one size",
                                  "");
            }
            m_log.ranks = ranks;
        }
    }

    void ReadHead(const std::vector<std::string>& words)
    {
        if (!m_head.empty())
        {
            throw ConfigError(Here(),
                              "a second table begins; the first one is at " + m_headAt,
                              "one table",
                              "make a file of each");
        }
        for (const char* column : {"type", "time", "algbw", "busbw"})
        {
            if (Position(words, column) == words.size())
            {
                const bool ofCpu = Position(words, "cputime") < words.size();
                throw ConfigError(Here(),
                                  std::string("the table has no column ") + column,
                                  "size, count, type, time, algbw and busbw",
                                  ofCpu ? "run nccl-tests without -C, which times the CPU" : "");
            }
        }
        m_head = words;
        m_headAt = Here();
    }

    void ReadSize(const std::vector<std::string>& words)
    {
        // A column of timestamps, the last, has two words on a line.
        if (words.size() < m_head.size())
        {
            throw ConfigError(Here(),
                              "the line ends after " + std::to_string(words.size()) +
                                  (words.size() == 1 ? " column" : " columns"),
                              std::to_string(m_head.size()) + ", as the head of the table at " +
                                  m_headAt + " has",
                              "leave a line out that a run did not finish; NCCL's own lines do "
                              "not come between with NCCL_DEBUG_FILE");
        }
        const auto cell = [&](const char* column) { return words[Position(m_head, column)]; };
        const auto at = [&](const char* column) { return Here() + " " + column; };
        MeasuredSize size;
        size.where = Here();
        size.bytes =
            Bytes(ParseAt(at("size"), [&] { return ParseWhole(cell("size"), 0, 1ULL << 50); }));
        size.count = ParseAt(at("count"), [&] { return ParseWhole(cell("count"), 0, 1ULL << 50); });
        size.type = cell("type");
        if (size.bytes == Bytes())
        {
            return;
        }
        RefuseWrong(words);
        // Hundredths are all that a column of this width has.
        size.us = ParseAt(at("time"), [&] { return ParseNumber(cell("time"), 0.01, 1e10); });
        const auto same =
            std::find_if(m_log.sizes.begin(), m_log.sizes.end(), [&](const MeasuredSize& other) {
                return other.bytes == size.bytes;
            });
        if (same != m_log.sizes.end())
        {
            throw ConfigError(Here(),
                              "the size " + cell("size") + " is there a second time, after " +
                                  same->where,
                              "every size once: one type and one operation",
                              "leave one of the lines out");
        }
        m_log.sizes.push_back(std::move(size));
    }

    /// Both ways of a size, out of place and in place, have a column of elements that came out
    /// wrong.
    void RefuseWrong(const std::vector<std::string>& words) const
    {
        const std::string column = "#wrong";
        for (size_t i = 0; i < m_head.size(); i++)
        {
            // A '#' that is lost before other lines may be lost here.
            if ((m_head[i] != column && m_head[i] != column.substr(1)) || words[i] == "N/A")
            {
                continue;
            }
            const std::string where = Here() + " " + column;
            const double wrong = ParseAt(where, [&] { return ParseNumber(words[i], 0, 1e300); });
            if (wrong > 0)
            {
                throw ConfigError(where,
                                  words[i] + " elements came out wrong",
                                  "0, or N/A where results are not checked",
                                  "times of a run that does not do its work are none to compare "
                                  "with: measure again, or leave the line out");
            }
        }
    }

    std::string m_name;
    size_t m_line{0};
    NcclLog m_log;
    std::vector<std::string> m_head; //!< its columns
    std::string m_headAt;
    std::set<uint64_t> m_ranks;
    std::map<std::string, uint32_t> m_groups; //!< ranks of each
    std::set<std::string> m_hosts;
};

} // namespace

NcclLog
ParseNcclLog(std::string_view text, const std::string& name)
{
    return LogReader(name).Read(text);
}

NcclLog
ReadNcclLog(const std::string& path)
{
    std::string text;
    try
    {
        text = ReadTextFile(path, kMostLogBytes);
    }
    catch (const ConfigError& error)
    {
        throw ConfigError(error.Where(),
                          error.Problem(),
                          error.Allowed(),
                          "--like takes what nccl-tests or rccl-tests have printed");
    }
    return ParseNcclLog(text, path);
}

} // namespace scaleacross
