// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/same-work.h"

#include "core/engine/engine.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

bool
SayTheSameButForAlgorithms(const Plan& a, const Plan& b)
{
    Plan same = a;
    same.network.collective = b.network.collective;
    same.network.allToAll = b.network.allToAll;
    return CanonicalText(same) == CanonicalText(b);
}

/// The collectives of plans, made when they are first asked for.
class Lowered
{
  public:
    Lowered(const std::vector<Ranked>& plans, const std::function<Scenario(const Plan&)>& with)
        : m_plans(plans),
          m_with(with)
    {
    }

    const std::vector<Collective>& Of(size_t i)
    {
        const auto known = m_known.find(i);
        if (known != m_known.end())
        {
            return known->second;
        }
        auto run = PrepareRun(m_with(m_plans[i].plan));
        return m_known.emplace(i, std::move(std::get<PreparedRun>(run).graph.collectives))
            .first->second;
    }

  private:
    const std::vector<Ranked>& m_plans;
    const std::function<Scenario(const Plan&)>& m_with;
    std::map<size_t, std::vector<Collective>> m_known;
};

} // namespace

std::vector<size_t>
FirstsOfSameWork(const std::vector<Ranked>& plans, const std::function<Scenario(const Plan&)>& with)
{
    Lowered lowered(plans, with);
    std::vector<size_t> firsts;
    for (size_t i = 0; i < plans.size(); i++)
    {
        size_t first = i;
        for (size_t j = i;
             j-- > 0 && plans[j].report.iterationTime == plans[i].report.iterationTime;)
        {
            if (firsts[j] == j && SayTheSameButForAlgorithms(plans[j].plan, plans[i].plan))
            {
                const auto& theirs = lowered.Of(j);
                const auto& own = lowered.Of(i);
                first = std::equal(theirs.begin(), theirs.end(), own.begin(), own.end(), MoveAlike)
                            ? j
                            : first;
            }
        }
        firsts.push_back(first);
    }
    return firsts;
}

} // namespace scaleacross
