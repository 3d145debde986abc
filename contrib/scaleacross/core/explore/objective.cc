// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/objective.h"

#include "core/base/text.h"
#include "core/base/word-registry.h"

#include <algorithm>
#include <sstream>

namespace scaleacross
{

namespace
{

constexpr const char* g_none = "none";

} // namespace

template <>
const std::vector<const ObjectiveFacts*>&
Objective::Rows()
{
    static const auto rows = PointersTo<ObjectiveFacts>(
        {{{"time", "time of an iteration", true},
          "s",
          [](const RunReport& report) { return report.iterationTime.S(); },
          [](const ClosedForm& form) { return form.bound.S(); }},
         {{"memory", "memory of the fullest stage"},
          "B",
          [](const RunReport& report) { return static_cast<double>(report.memoryMax.Count()); },
          [](const ClosedForm& form) { return static_cast<double>(form.memoryMax.Count()); }},
         {{"bytes", "bytes across buildings in an iteration"},
          "B",
          [](const RunReport& report) {
              return static_cast<double>(report.crossBuildingBytes.Count());
          },
          [](const ClosedForm& form) {
              return static_cast<double>(form.crossBuildingBytes.Count());
          }}});
    return rows;
}

template class Word<ObjectiveFacts>;

std::vector<Objective>
UsualFront()
{
    return {"time", "memory"};
}

std::string
FrontText(const std::vector<Objective>& front)
{
    std::string text;
    for (const Objective& objective : front)
    {
        text += (text.empty() ? "" : ",") + objective.Name();
    }
    return text.empty() ? g_none : text;
}

std::vector<Objective>
ParseFront(const std::string& text)
{
    std::vector<Objective> front;
    if (text == g_none)
    {
        return front;
    }
    const std::string allowed =
        "two or three of " + AnyOf(Objective::Names()) + ", joined by commas, or none";
    std::istringstream list(text);
    for (std::string word; std::getline(list, word, ',');)
    {
        front.emplace_back(word);
        if (std::find(front.begin(), front.end() - 1, front.back()) != front.end() - 1)
        {
            throw ValueError(Quoted(word) + " is given twice", allowed, "");
        }
    }
    if (front.size() < 2 || front.size() > 3)
    {
        throw ValueError(front.size() < 2
                             ? "a front of one objective is its best plan"
                             : "more than three leave hardly any plan out of the front",
                         allowed,
                         "");
    }
    return front;
}

} // namespace scaleacross
