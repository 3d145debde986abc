// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/traffic/flow-sizes.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/work/traffic/flow-size-files.h"

#include <cstdint>
#include <sstream>

namespace scaleacross
{

namespace
{

constexpr const char* kColumns = "bytes,cumulative_probability";

/// A petabyte: the mean time between flows on the slowest link stays within the clock's range.
constexpr double kMost = 1e15;

} // namespace

FlowSizes
FlowSizes::Named(const std::string& name)
{
    std::string names;
    for (const FlowSizeFile& file : FlowSizeFiles())
    {
        if (file.name == name)
        {
            return Parse(file.text, "data/flow-sizes/" + name + ".csv");
        }
        names += (names.empty() ? "" : ", ") + std::string(file.name);
    }
    throw ConfigError("FlowSizes",
                      "there is no distribution '" + name + "'",
                      names,
                      "read one of your own with FlowSizes::Parse");
}

FlowSizes
FlowSizes::Parse(const std::string& text, const std::string& place)
{
    FlowSizes sizes;
    std::istringstream lines{std::string(WithoutByteOrderMark(text))};
    std::string line;
    bool named = false;
    for (uint32_t number = 1; std::getline(lines, line); number++)
    {
        const auto refuse = [&](const std::string& what,
                                const std::string& allowed,
                                const std::string& remedy = "") {
            throw ConfigError(place + ":" + std::to_string(number), what, allowed, remedy);
        };
        line = Trimmed(line);
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        if (!named)
        {
            named = true;
            if (line != kColumns)
            {
                refuse("the columns are '" + line + "'", kColumns);
            }
            continue;
        }
        std::istringstream row(line);
        Point point{};
        char comma = 0;
        if (!(row >> point.bytes >> comma >> point.probability) || comma != ',' ||
            row.peek() != std::char_traits<char>::eof())
        {
            refuse("'" + line + "' is no row", "two numbers and a comma between them");
        }
        const bool first = sizes.m_points.empty();
        const Point before = first ? Point{-1, 0} : sizes.m_points.back();
        if (point.bytes <= before.bytes || point.probability < before.probability ||
            point.probability > 1 || (first && point.probability != 0))
        {
            refuse("'" + line + "' does not grow from the row before",
                   "more bytes than there, and a probability from there (0 in the first) to 1");
        }
        // Drawn by its probability, which tells points apart.
        if (!first && point.probability == before.probability)
        {
            refuse("'" + line + "' has the probability of the row before",
                   "a probability that grows from row to row",
                   "leave one of the two rows out, or give the later one slightly more");
        }
        if (point.bytes > kMost)
        {
            refuse("'" + line + "' has too many bytes", "up to 1e15 bytes, a petabyte");
        }
        sizes.m_points.push_back(point);
    }
    if (sizes.m_points.size() < 2 || sizes.m_points.back().probability != 1)
    {
        throw ConfigError(place,
                          std::to_string(sizes.m_points.size()) +
                              " points, which do not end at probability 1",
                          "two or more, the last with probability 1",
                          "");
    }
    return sizes;
}

double
FlowSizes::Mean() const
{
    double mean = 0;
    for (size_t i = 1; i < m_points.size(); i++)
    {
        mean += (m_points[i].probability - m_points[i - 1].probability) *
                (m_points[i].bytes + m_points[i - 1].bytes) / 2;
    }
    return mean;
}

std::vector<std::string>
FlowSizeNames()
{
    std::vector<std::string> names;
    for (const FlowSizeFile& file : FlowSizeFiles())
    {
        names.emplace_back(file.name);
    }
    return names;
}

} // namespace scaleacross
