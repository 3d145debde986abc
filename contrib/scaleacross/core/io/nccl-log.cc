// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-log.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/nccl-json.h"
#include "core/io/nccl-ranks.h"
#include "core/io/nccl-tests-words.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

/// A line without line end and colours, and with a blank behind tags that have none.
std::string
Cleaned(std::string_view line)
{
    std::string text;
    for (size_t i = 0; i < line.size(); i++)
    {
        if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[')
        {
            // A colour of a terminal: everything up to its letter.
            for (i += 2; i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0;)
            {
                i++;
            }
            continue;
        }
        text += line[i] == '\t' || line[i] == '\r' ? ' ' : line[i];
        const bool tag = i > 0 && line[i] == ':' && (line[i - 1] == '>' || line[i - 1] == ']');
        if (tag)
        {
            text += ' ';
        }
    }
    return text;
}

/// A line's words, and where each begins.
struct Words
{
    explicit Words(const std::string& line)
    {
        for (size_t at = line.find_first_not_of(' '); at != std::string::npos;)
        {
            const size_t end = std::min(line.find(' ', at), line.size());
            text.push_back(line.substr(at, end - at));
            begin.push_back(at);
            at = line.find_first_not_of(' ', end);
        }
    }

    /// The words from one on.
    std::vector<std::string> From(size_t first) const
    {
        return {text.begin() + static_cast<ptrdiff_t>(first), text.end()};
    }

    /// The index of the first of words that follow each other. None: they do not.
    std::optional<size_t> Find(const std::vector<std::string>& sequence) const
    {
        const auto found = std::search(text.begin(), text.end(), sequence.begin(), sequence.end());
        return found == text.end()
                   ? std::nullopt
                   : std::optional<size_t>(static_cast<size_t>(found - text.begin()));
    }

    std::vector<std::string> text;
    std::vector<size_t> begin;
};

/// Words with a bracket are written by a launcher, and never by nccl-tests in its table.
bool
IsBracketed(const std::string& word)
{
    return word.find_first_of("[<") != std::string::npos && word.find_first_of("]>") < word.size();
}

/// The length of what a line has in front of it, if that is like `prefix`: the same but for
/// letters, digits and the number of blanks. None: the line begins otherwise.
std::optional<size_t>
PrefixLength(const std::string& prefix, const std::string& line)
{
    const auto kind = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ? 'a' : c;
    };
    size_t at = line.find_first_not_of(' ');
    for (size_t i = prefix.find_first_not_of(' '); i < prefix.size();)
    {
        const char one = kind(prefix[i]);
        if (at >= line.size() || kind(line[at]) != one)
        {
            return std::nullopt;
        }
        const bool run = one == 'a' || one == ' ';
        do
        {
            i++;
        } while (run && i < prefix.size() && kind(prefix[i]) == one);
        do
        {
            at++;
        } while (run && at < line.size() && kind(line[at]) == one);
    }
    return at;
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
            ReadLine(Cleaned(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (!m_table)
        {
            throw ConfigError(m_name,
                              "there is no table of nccl-tests",
                              "a line with the columns size, count, type, time, algbw and busbw, "
                              "and a line for each size",
                              "give what all_reduce_perf or the like has printed");
        }
        if (m_log.sizes.empty())
        {
            throw ConfigError(m_table->Where(),
                              "the table has no line of a size above 0",
                              "a line for each size",
                              "give the log of a run that has come to its first result");
        }
        const NcclRankCounts counts = m_ranks.Count();
        m_log.ranks = counts.ranks;
        m_log.groups = counts.groups;
        m_log.servers = counts.servers;
        m_log.ranksAt = m_ranks.Where();
        return std::move(m_log);
    }

  private:
    std::string Here() const
    {
        return m_name + ":" + std::to_string(m_line);
    }

    void ReadLine(const std::string& line)
    {
        const Words words(line);
        const std::vector<std::string>& text = words.text;
        if (const auto starts = words.Find({"Collective", "test", "starting:"}))
        {
            if (*starts + 3 < text.size())
            {
                ReadOperation(text[*starts + 3]);
            }
        }
        else if (const auto threads = words.Find({"nGpus"});
                 threads && *threads >= 2 && *threads + 1 < text.size())
        {
            ReadShape(text, *threads);
        }
        else if (NcclRanks::IsLine(text))
        {
            m_ranks.AddLine(text, Here());
        }
        else if (const auto cycle = words.Find({"cycle."}); cycle && words.Find({"Testing"}))
        {
            m_cycleAt = Here();
        }
        else if (const auto head = NcclTable::FindHead(text))
        {
            ReadHead(line, words, *head);
        }
        else if (m_table)
        {
            ReadSize(line, words);
        }
    }

    void ReadOperation(const std::string& name)
    {
        const NcclTestsProgram* program = FindNcclTestsProgram(name);
        if (program == nullptr || !program->op)
        {
            throw ConfigError(Here(),
                              Quoted(name) + " does no operation that is modelled",
                              AnyOf(ModelledNcclTestsPrograms()),
                              "give a log of one of these");
        }
        m_log.op = program->op;
        m_log.opAt = Here();
        m_log.opByLine = true;
    }

    /// "nThread 1 nGpus 8 ...".
    void ReadShape(const std::vector<std::string>& words, size_t gpusAt)
    {
        const auto number = [&](size_t at) {
            return static_cast<uint32_t>(
                ParseAt(Here(), [&] { return ParseWhole(words[at], 0, 1U << 15); }));
        };
        if (words[gpusAt - 2].find("nThread") != std::string::npos)
        {
            m_ranks.SetPerProcess(number(gpusAt - 1) * number(gpusAt + 1), Here());
        }
    }

    void ReadHead(const std::string& line, const Words& words, size_t first)
    {
        if (m_table)
        {
            throw ConfigError(Here(),
                              "a second table begins; the first one is at " + m_table->Where(),
                              "one table",
                              "make a file of each");
        }
        m_table.emplace(words.From(first), Here());
        m_prefix = line.substr(0, words.begin[first]);
        m_prefix.erase(m_prefix.find_last_not_of(" #") + 1);
    }

    void ReadSize(const std::string& line, const Words& tagged)
    {
        const std::string untagged = WithoutInnerTags(line, tagged);
        const Words words(untagged);
        if (const auto first = NcclTable::FindRow(words.text))
        {
            AddRow(words.From(*first));
            return;
        }
        // A line that has ended before its type, or has no such numbers.
        const auto length = PrefixLength(m_prefix, untagged);
        const Words rest(length ? untagged.substr(std::min(*length, untagged.size())) : "");
        if (!rest.text.empty() && IsDigits(rest.text[0]))
        {
            AddRow(rest.text);
        }
    }

    /// The line without the tags that a launcher has put into it when nccl-tests wrote it in parts.
    static std::string WithoutInnerTags(std::string line, const Words& words)
    {
        const size_t count = words.text.size();
        for (size_t i = 0; i < count; i++)
        {
            const std::string& tag = words.text[i];
            if (i + 1 < count && IsDigits(tag) && IsDigits(words.text[i + 1]))
            {
                break; // size and count
            }
            size_t at = words.begin[i] + tag.size();
            while (IsBracketed(tag) && (at = line.find(tag, at)) != std::string::npos)
            {
                line.replace(at, tag.size(), tag.size(), ' ');
            }
        }
        return line;
    }

    void AddRow(const std::vector<std::string>& words)
    {
        if (auto size = m_table->Read(words, Here(), m_ranks.Size()))
        {
            AddSize(m_log, std::move(*size), m_cycleAt);
        }
    }

    std::string m_name;
    size_t m_line{0};
    NcclLog m_log;
    NcclRanks m_ranks;
    std::optional<NcclTable> m_table;
    std::string m_prefix;  //!< what the head of the table has in front
    std::string m_cycleAt; //!< where a second run over all sizes begins
};

/// The operation by the file's name: all_reduce-4-nodes.log.
std::optional<CollectiveOp>
OperationByName(const std::string& path)
{
    std::string name = std::filesystem::path(path).filename().string();
    std::replace(name.begin(), name.end(), '-', '_');
    std::optional<CollectiveOp> op;
    for (const NcclTestsProgram& program : NcclTestsPrograms())
    {
        const size_t at = name.find(program.word);
        const size_t end = at == std::string::npos ? at : at + program.word.size();
        const char next = end < name.size() ? name[end] : '.';
        // alltoallv is another one.
        if (at != std::string::npos && program.op && (next == '.' || next == '_'))
        {
            op = program.op;
        }
    }
    return op;
}

} // namespace

void
AddSize(NcclLog& log, MeasuredSize size, const std::string& cycleAt)
{
    const auto same =
        std::find_if(log.sizes.begin(), log.sizes.end(), [&](const MeasuredSize& other) {
            return other.bytes == size.bytes;
        });
    if (same != log.sizes.end())
    {
        const bool cycle = !cycleAt.empty();
        throw ConfigError(size.where,
                          "the size " + std::to_string(size.bytes.Count()) +
                              " is there a second time, after " + same->where +
                              (cycle ? ": another cycle of -N begins at " + cycleAt : ""),
                          "every size once: one type, one operation, one root and one cycle",
                          cycle ? "make a file of each cycle" : "leave one of the lines out");
    }
    log.sizes.push_back(std::move(size));
}

NcclLog
ParseNcclLog(std::string_view text, const std::string& name)
{
    NcclLog log = IsNcclJson(text) ? ParseNcclJson(text, name) : LogReader(name).Read(text);
    if (!log.op)
    {
        log.op = OperationByName(name);
        log.opAt = log.op ? name : "";
    }
    for (const MeasuredSize& size : log.sizes)
    {
        // Without a name it may be of an all-to-all.
        if (size.wrongInPlace && log.op && log.op != CollectiveOp::AllToAll)
        {
            throw ConfigError(*size.wrongInPlace);
        }
    }
    return log;
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

namespace
{

/// Whether the bus bandwidth does not depend on the number of ranks.
bool
IsAlikeForAllRanks(CollectiveOp op)
{
    return BusFactor(op, 1) == BusFactor(op, 2);
}

double
Middle(const RoundedRange& range)
{
    return (range.least + range.most) / 2;
}

/// Four digits, of which columns of two decimals seldom have more.
std::string
FactorText(double factor)
{
    std::ostringstream text;
    text.precision(4);
    text << factor;
    return text.str();
}

[[noreturn]] void
RefuseFactor(const std::string& where, double factor, const std::string& why, CollectiveOp op)
{
    const std::string allowed = IsAlikeForAllRanks(op)          ? "1"
                                : op == CollectiveOp::AllReduce ? "2 (n-1)/n"
                                                                : "(n-1)/n";
    throw ConfigError(
        where,
        "busbw x time / size is " + FactorText(factor) + ", " + why,
        "for " + ToString(op) + " " + allowed + " in all lines, of n ranks",
        "the right --op, if it is of another operation; else the log of one run as it "
        "was printed");
}

/// What all lines agree to.
struct AgreedFactor
{
    RoundedRange factor;
    std::string where; //!< the line that says most of it; none: no line has bandwidths
};

AgreedFactor
AgreeOnFactor(const NcclLog& log, CollectiveOp op)
{
    AgreedFactor agreed{{0, std::numeric_limits<double>::infinity()}, ""};
    for (const MeasuredSize& size : log.sizes)
    {
        if (!size.busFactor)
        {
            continue;
        }
        const RoundedRange both{std::max(agreed.factor.least, size.busFactor->least),
                                std::min(agreed.factor.most, size.busFactor->most)};
        if (both.least > both.most)
        {
            RefuseFactor(size.where,
                         Middle(*size.busFactor),
                         "and " + FactorText(Middle(agreed.factor)) + " at " + agreed.where,
                         op);
        }
        if (agreed.where.empty() || both.least > agreed.factor.least ||
            both.most < agreed.factor.most)
        {
            agreed.where = size.where;
        }
        agreed.factor = both;
    }
    return agreed;
}

} // namespace

std::optional<RankRange>
RanksByBandwidth(const NcclLog& log, CollectiveOp op)
{
    const AgreedFactor agreed = AgreeOnFactor(log, op);
    if (agreed.where.empty())
    {
        return std::nullopt;
    }
    constexpr double kRounding = 1e-9; // of these sums
    const RoundedRange factor{agreed.factor.least * (1 - kRounding),
                              agreed.factor.most * (1 + kRounding)};
    const auto refuse = [&] {
        RefuseFactor(agreed.where, Middle(agreed.factor), "which no number of ranks gives", op);
    };
    if (IsAlikeForAllRanks(op))
    {
        if (factor.least > 1 || factor.most < 1)
        {
            refuse();
        }
        return std::nullopt;
    }
    // factor = scale (n-1)/n, so n = scale / (scale - factor).
    const double scale = 2 * BusFactor(op, 2);
    static constexpr double kMost = 1U << 30;
    const auto ranks = [scale](double value) {
        return value >= scale ? kMost : std::min(kMost, scale / (scale - value));
    };
    const double least = std::ceil(ranks(factor.least));
    const double most = std::floor(ranks(factor.most));
    if (factor.least > scale || least > most)
    {
        refuse();
    }
    return RankRange{static_cast<uint32_t>(least),
                     most >= kMost ? 0 : static_cast<uint32_t>(most),
                     agreed.where};
}

} // namespace scaleacross
