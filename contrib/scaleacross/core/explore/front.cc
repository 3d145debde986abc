// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/front.h"

#include "core/base/text.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

constexpr const char* g_none = "none";
constexpr double g_farthest = 10; // so that 50 is not taken for 5000 %

} // namespace

std::string
FrontText(const Front& front)
{
    std::string text;
    for (const Objective& objective : front.objectives)
    {
        text += (text.empty() ? "" : ",") + objective.Name();
        if (front.reach && objective == front.objectives.front())
        {
            text += "+" + NumberText(*front.reach);
        }
    }
    return text.empty() ? g_none : text;
}

Front
ParseFront(const std::string& text)
{
    Front front;
    if (text == g_none)
    {
        return front;
    }
    const std::string allowed = "two or three of " + AnyOf(Objective::Names()) +
                                ", joined by commas, the first perhaps with its reach, as in "
                                "time+50%,memory, or none";
    for (const std::string& part : ListParts(text))
    {
        const size_t plus = part.find('+');
        if (plus != std::string::npos)
        {
            if (!front.objectives.empty())
            {
                throw ValueError("only the first objective of a front has a reach", allowed, "");
            }
            front.reach = ParseFraction(part.substr(plus + 1), 0, g_farthest);
        }
        const Objective objective(Trimmed(part.substr(0, plus)));
        const auto& all = front.objectives;
        if (std::find(all.begin(), all.end(), objective) != all.end())
        {
            throw ValueError(Quoted(objective.Name()) + " is given twice", allowed, "");
        }
        front.objectives.push_back(objective);
    }
    const size_t count = front.objectives.size();
    if (count < 2 || count > 3)
    {
        throw ValueError(count < 2 ? "a front of one objective is its best plan"
                                   : "more than three leave hardly any plan out of the front",
                         allowed,
                         "");
    }
    return front;
}

} // namespace scaleacross
