// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/nccl-table.h"

#include "core/base/parse-at.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

/// Of a run of which nothing says how many it has: more than have been measured.
constexpr size_t g_mostRanks = 1U << 15;

constexpr const char* g_lineRemedy =
    "a line that a run did not finish has to be left out; a launcher's tag or NCCL's own words "
    "have to be taken out of it (NCCL_DEBUG_FILE keeps NCCL's apart)";

/// The name of a type or reduction: "bfloat16", "f8e4m3", "sum".
bool
IsName(const std::string& word)
{
    return !word.empty() && word[0] >= 'a' && word[0] <= 'z' &&
           std::all_of(word.begin(), word.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
           });
}

/// Columns that are not used may have "nan" or "inf".
bool
IsNumber(const std::string& word)
{
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0';
}

/// What a number may have been before it was rounded to these digits.
RoundedRange
RangeOf(const std::string& word)
{
    const double value = std::strtod(word.c_str(), nullptr);
    const size_t exponentAt = std::min(word.find('e'), word.size());
    const double exponent =
        exponentAt < word.size() ? std::strtod(word.c_str() + exponentAt + 1, nullptr) : 0;
    const size_t point = word.find('.');
    const double decimals = point < exponentAt ? static_cast<double>(exponentAt - point) - 1 : 0;
    const double half = 0.5 * std::pow(10, exponent - decimals);
    return {std::max(0.0, value - half), value + half};
}

/// How far results of a type may differ from the right ones for each further rank, as "error" and
/// "res" have it: nccl-tests 1.0.0 to 2.11.0, src/common.cu, DeltaMaxValue() times nranks - 1.
double
MostErrorOfRank(const std::string& type)
{
    static const std::map<std::string, double> most = {{"half", 1e-2},
                                                       {"bfloat16", 1e-2},
                                                       {"float", 1e-5},
                                                       {"double", 1e-12}};
    const auto found = most.find(type);
    return found == most.end() ? 0 : found->second;
}

} // namespace

std::optional<size_t>
NcclTable::FindHead(const std::vector<std::string>& words)
{
    for (size_t i = 0; i + 4 < words.size(); i++)
    {
        if (words[i + 2] == "type" && ((words[i] == "size" && words[i + 1] == "count") ||
                                       (words[i] == "bytes" && words[i + 1] == "N")))
        {
            return i;
        }
    }
    return std::nullopt;
}

std::optional<size_t>
NcclTable::FindRow(const std::vector<std::string>& words)
{
    for (size_t i = 0; i + 2 < words.size(); i++)
    {
        if (IsDigits(words[i]) && IsDigits(words[i + 1]) && IsName(words[i + 2]))
        {
            return i;
        }
    }
    return std::nullopt;
}

NcclTable::NcclTable(std::vector<std::string> columns, const std::string& where)
    : m_columns(std::move(columns)),
      m_where(where)
{
    if (m_columns[0] == "bytes")
    {
        m_usPerTime = 1e3;
        m_columns[0] = "size";
        m_columns[1] = "count";
        std::replace(m_columns.begin(), m_columns.end(), std::string("op"), std::string("redop"));
        std::replace(m_columns.begin(), m_columns.end(), std::string("res"), std::string("error"));
    }
    // A '#' that is lost before other lines may be lost here.
    std::replace(m_columns.begin(), m_columns.end(), std::string("wrong"), std::string("#wrong"));
    for (const char* column : {"type", "time", "algbw", "busbw"})
    {
        if (Position(column) == m_columns.size())
        {
            const bool ofCpu = Position("cputime") < m_columns.size();
            throw ConfigError(m_where,
                              std::string("the table has no column ") + column,
                              "size, count, type, time, algbw and busbw",
                              ofCpu ? "run nccl-tests without -C, which times the CPU"
                                    : "give the head of the table as it was printed");
        }
    }
}

size_t
NcclTable::Position(const std::string& column, size_t from) const
{
    return static_cast<size_t>(
        std::find(m_columns.begin() + static_cast<ptrdiff_t>(std::min(from, m_columns.size())),
                  m_columns.end(),
                  column) -
        m_columns.begin());
}

std::optional<MeasuredSize>
NcclTable::Read(std::vector<std::string> words, const std::string& where, size_t ranks) const
{
    const auto at = [&where](const char* column) { return where + " " + column; };
    MeasuredSize size;
    size.where = where;
    size.bytes = Bytes(ParseAt(at("size"), [&] { return ParseWhole(words[0], 0, 1ULL << 50); }));
    // Without a reduction that column is blank where it is not "none".
    const size_t redop = Position("redop");
    if (redop < m_columns.size() && words.size() > redop && IsNumber(words[redop]) &&
        IsName(words[redop - 1]))
    {
        words.insert(words.begin() + static_cast<ptrdiff_t>(redop), "none");
    }
    CheckWords(words, where);
    size.count = ParseAt(at("count"), [&] { return ParseWhole(words[1], 0, 1ULL << 50); });
    size.type = words[Position("type")];
    if (size.bytes == Bytes())
    {
        return std::nullopt;
    }

    for (const char* column : {"#wrong", "error"})
    {
        const size_t first = Position(column);
        if (const auto wrong = Wrong(words, first, where, ranks))
        {
            throw ConfigError(*wrong);
        }
        if (!size.wrongInPlace)
        {
            size.wrongInPlace = Wrong(words, Position(column, first + 1), where, ranks);
        }
    }

    const std::string& time = words[Position("time")];
    // Hundredths of a microsecond, or thousandths of a millisecond, are all that a column of this
    // width has.
    const double least = m_usPerTime == 1 ? 0.01 : 0.001;
    size.us = m_usPerTime * ParseAt(at("time"), [&] { return ParseNumber(time, least, 1e10); });

    const auto bytes = static_cast<double>(size.bytes.Count());
    const RoundedRange us = RangeOf(time);
    const RoundedRange algbw = RangeOf(words[Position("algbw")]);
    const RoundedRange busbw = RangeOf(words[Position("busbw")]);
    const double perGb = m_usPerTime * 1e3 / bytes; // of (GB/s) us
    if (algbw.least * us.least * perGb <= 1 && algbw.most * us.most * perGb >= 1)
    {
        size.busFactor = {busbw.least * us.least * perGb, busbw.most * us.most * perGb};
    }
    return size;
}

void
NcclTable::CheckWords(const std::vector<std::string>& words, const std::string& where) const
{
    for (size_t i = 0; i < m_columns.size(); i++)
    {
        const std::string& column = m_columns[i];
        if (i >= words.size())
        {
            throw ConfigError(where,
                              "the line ends after " + std::to_string(words.size()) +
                                  (words.size() == 1 ? " column" : " columns"),
                              std::to_string(m_columns.size()) + ", as the head of the table at " +
                                  m_where + " has",
                              g_lineRemedy);
        }
        const bool names = column == "type" || column == "redop";
        const bool unchecked = (column == "#wrong" || column == "error") &&
                               (words[i] == "N/A" || words[i].back() == '*');
        if (column != "timestamp" && !unchecked && !(names ? IsName(words[i]) : IsNumber(words[i])))
        {
            throw ConfigError(where + " " + column,
                              Quoted(words[i]) + " is no value of this column",
                              names ? "a name" : "a number",
                              g_lineRemedy);
        }
    }
}

std::optional<ConfigError>
NcclTable::Wrong(const std::vector<std::string>& words,
                 size_t column,
                 const std::string& where,
                 size_t ranks) const
{
    if (column >= m_columns.size() || words[column] == "N/A")
    {
        return std::nullopt;
    }
    const std::string place = where + " " + m_columns[column];
    // Older releases of rccl-tests put an asterisk behind an error that is too large.
    std::string word = words[column];
    const bool marked = word.back() == '*';
    word = marked ? word.substr(0, word.size() - 1) : word;
    const double value = ParseAt(place, [&] { return ParseNumber(word, 0, 1e300); });
    const bool counts = m_columns[column] == "#wrong";
    const double ofRank = counts ? 0 : MostErrorOfRank(words[Position("type")]);
    const double most = ofRank * static_cast<double>((ranks > 0 ? ranks : g_mostRanks) - 1);
    if (value <= most && !marked)
    {
        return std::nullopt;
    }
    return ConfigError(place,
                       counts ? word + " elements came out wrong"
                              : "results differ by " + word + " of the right ones",
                       (counts ? "0" : NumberText(most) + " at most") +
                           std::string(", or N/A where results are not checked"),
                       "times of a run that does not do its work are none to compare with: "
                       "measure again, or leave the line out");
}

} // namespace scaleacross
