// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/descent.h"

#include "core/explore/crew.h"
#include "core/explore/families.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr auto g_progressTime = std::chrono::milliseconds(100);
/// In how many axes neighbours differ at most.
constexpr size_t g_reach = 2;
/// Families of the first level that are a sample of all, where there is no start.
constexpr uint64_t g_sample = 4096;
/// Plans that are looked at in one job.
constexpr size_t g_together = 64;
/// Plans that are filtered, and that run, in turns: were all of those filtered first whose bound by
/// the first look is less than the least by the filter, nothing would run for long. Numbers of
/// their own and not that of the threads, so that what runs does not depend on these.
constexpr size_t g_filtered = 16;
constexpr size_t g_run = 2;

/// A plan that runs.
struct Step
{
    Family family;
    Plan plan;
    Evaluation evaluation;
    bool known{false}; //!< stored already
};

/// One call of Descend().
class Descent
{
  public:
    Descent(const SearchSpace& space,
            const Engine& engine,
            const SearchOptions& options,
            ResultSink& sink)
        : m_space(space),
          m_engine(engine),
          m_options(options),
          m_sink(sink),
          m_families(space, options, Runs::WhatCanMatter, Counts::Nothing),
          m_frontier(sink.Resume()),
          m_board(1, GoalsOf(options.goals), Leaderboard::Keeps::Best)
    {
    }

    DescentResult First()
    {
        if (m_frontier.next < m_families.Positions())
        {
            RunStarts({});
        }
        return std::move(m_result);
    }

    DescentResult Run(const std::vector<Plan>& starts)
    {
        if (m_frontier.next < m_families.Positions())
        {
            RunStarts(starts);
            for (const uint64_t start : Ordered(m_result.ran))
            {
                DescendFrom(start);
            }
        }
        return std::move(m_result);
    }

  private:
    using Queue = std::priority_queue<Family>;

    /// A step to a plan that is better by less than the gap is one, too.
    static Goals GoalsOf(Goals goals)
    {
        goals.front = {};
        goals.gap = 0;
        return goals;
    }

    /// Runs these and the best that is stored of the search, or else what RunFirst() finds.
    void RunStarts(const std::vector<Plan>& starts)
    {
        std::set<uint64_t> positions;
        for (const Plan& start : starts)
        {
            positions.insert(m_families.PositionOf(m_space.NumberOf(start)));
        }
        if (const auto stored = BestStored())
        {
            positions.insert(*stored);
        }
        Neighbourhood all = LookAt({positions.begin(), positions.end()});
        FilterSome(all, positions.size());
        RunSome(all, positions.size());
        if (m_result.ran.empty())
        {
            RunFirst();
        }
    }

    std::optional<uint64_t> BestStored()
    {
        std::vector<Ranked> stored;
        m_sink.Restore(m_families.Positions(), [&](uint64_t position, const RunReport& report) {
            const auto plan = m_space.PlanAt(m_families.IndexOf(position));
            if (plan)
            {
                stored.push_back({position, *plan, CanonicalText(*plan), report});
            }
            return plan.has_value();
        });
        const auto best = Ordered(std::move(stored));
        return best.empty() ? std::nullopt : std::optional<uint64_t>(best.front());
    }

    /// Runs plans until one has a time: of a sample of the families of the first level down from
    /// the one with the least bound, at every level to the part with the least.
    void RunFirst()
    {
        const auto comesLater = [](const Family& a, const Family& b) {
            return a.level != b.level ? a.level < b.level : a < b;
        };
        std::priority_queue<Family, std::vector<Family>, decltype(comesLater)> open(comesLater);
        const auto push = [&](const Look& look) {
            for (Family family : look.open)
            {
                family.least = m_board.Least(family.form);
                open.push(family);
            }
        };
        const uint64_t heads = std::min(m_families.Positions() / m_families.SizeOf(0), g_sample);
        for (uint64_t i = 0; i < heads && !IsStopped(); i += g_together)
        {
            push(m_families.AtHeads(i * m_families.SizeOf(0),
                                    std::min<uint64_t>(g_together, heads - i),
                                    m_board));
        }
        while (!open.empty() && m_result.ran.empty() && !IsStopped())
        {
            const Family family = open.top();
            open.pop();
            if (family.next == Family::Next::Split)
            {
                push(m_families.AtParts(family, 0, m_families.PartsOf(family).size(), m_board));
                continue;
            }
            Neighbourhood one = LookAt({family.position});
            FilterSome(one, 1);
            RunSome(one, 1);
        }
    }

    bool IsStopped()
    {
        m_result.interrupted =
            m_result.interrupted || (m_options.stop != nullptr && m_options.stop->load());
        return m_result.interrupted;
    }

    /// The positions of plans, best first.
    std::vector<uint64_t> Ordered(std::vector<Ranked> plans) const
    {
        std::sort(plans.begin(),
                  plans.end(),
                  RankOrder{m_options.goals.objective, m_options.goals.rates});
        std::vector<uint64_t> positions;
        for (const Ranked& plan : plans)
        {
            positions.push_back(plan.index);
        }
        return positions;
    }

    /// Goes from a plan to better neighbours until there is none.
    void DescendFrom(uint64_t centre)
    {
        for (size_t reach = 1; reach <= g_reach && !m_result.interrupted;)
        {
            const auto better = BetterAround(centre, reach);
            reach = better ? 1 : reach + 1;
            centre = better.value_or(centre);
        }
    }

    /// Plans that may be better than all that have run, by what is to be done next, least bound
    /// first.
    struct Neighbourhood
    {
        Queue unclear;
        Queue ready;
    };

    /// The position of a plan that is better than all that have run, of those that differ from one
    /// in so many axes.
    std::optional<uint64_t> BetterAround(uint64_t centre, size_t reach)
    {
        Neighbourhood around = LookAt(Around(centre, reach));
        bool goesOn = true;
        while (goesOn && !m_result.interrupted)
        {
            const uint64_t before = BestPosition();
            goesOn = FilterSome(around, g_filtered);
            goesOn = RunSome(around, g_run) || goesOn;
            if (BestPosition() != before)
            {
                return BestPosition();
            }
        }
        return std::nullopt;
    }

    uint64_t BestPosition() const
    {
        const Ranked* best = m_board.First();
        return best == nullptr ? UINT64_MAX : best->index;
    }

    std::vector<uint64_t> Around(uint64_t centre, size_t reach) const
    {
        const uint64_t number = m_families.IndexOf(centre);
        std::set<uint64_t> numbers = {number};
        std::vector<uint64_t> rim = {number};
        for (; reach > 0; reach--)
        {
            std::vector<uint64_t> wider;
            for (const uint64_t from : rim)
            {
                for (const uint64_t neighbour : m_space.NeighboursOf(from))
                {
                    if (numbers.insert(neighbour).second)
                    {
                        wider.push_back(neighbour);
                    }
                }
            }
            rim = std::move(wider);
        }
        std::vector<uint64_t> positions;
        for (const uint64_t neighbour : numbers)
        {
            positions.push_back(m_families.PositionOf(neighbour));
        }
        return positions;
    }

    /// Those of the positions whose plans can run and be better than what has run, as far as they
    /// are known by now.
    Neighbourhood LookAt(const std::vector<uint64_t>& positions)
    {
        std::vector<uint64_t> fresh;
        for (const uint64_t position : positions)
        {
            if (m_known.count(position) == 0)
            {
                fresh.push_back(position);
            }
        }
        std::vector<std::optional<Family>> found(fresh.size());
        Together((fresh.size() + g_together - 1) / g_together, [&](size_t job) {
            const size_t end = std::min(fresh.size(), (job + 1) * g_together);
            for (size_t i = job * g_together; i < end; i++)
            {
                found[i] = OpenOf(m_families.AtPlan(fresh[i], m_board));
            }
        });
        Neighbourhood all;
        if (m_result.interrupted)
        {
            return all;
        }
        for (size_t i = 0; i < fresh.size(); i++)
        {
            m_known[fresh[i]] = found[i];
        }
        for (const uint64_t position : positions)
        {
            if (const auto& family = m_known.at(position))
            {
                (family->next == Family::Next::Run ? all.ready : all.unclear).push(*family);
            }
        }
        return all;
    }

    /// What is open of the one plan that was looked at.
    std::optional<Family> OpenOf(const Look& look) const
    {
        if (look.open.empty() || !look.failures.empty())
        {
            return std::nullopt;
        }
        Family family = look.open.front();
        family.least = m_board.Least(family.form);
        return family;
    }

    /// The next few that may still be better, each as the distinct plan that it means.
    std::vector<Family> Next(Queue& queue, size_t most)
    {
        std::vector<Family> next;
        for (; !queue.empty() && next.size() < most; queue.pop())
        {
            Family family = queue.top();
            const auto& known = m_known.at(family.position);
            // It may have been there as what another one means.
            if (!known || known->next != family.next)
            {
                continue;
            }
            const bool matters =
                m_families.CanMatter(m_families.FirstOf(family), family.form, m_board);
            m_known[family.position] = std::nullopt;
            const uint64_t number = m_families.IndexOf(family.position);
            const uint64_t meant = m_families.PositionOf(m_space.FirstMeaning(number));
            const auto own = m_known.find(meant);
            const bool isOpen = meant == family.position || own == m_known.end() ||
                                (own->second && own->second->next == family.next);
            if (matters && isOpen)
            {
                family.position = meant;
                m_known[meant] = std::nullopt;
                next.push_back(family);
            }
        }
        return next;
    }

    /// Asks the filter of the next few; false where there are none.
    bool FilterSome(Neighbourhood& around, size_t most)
    {
        const std::vector<Family> some = Next(around.unclear, most);
        std::vector<std::optional<Family>> found(some.size());
        Together(some.size(),
                 [&](size_t i) { found[i] = OpenOf(m_families.Filtered(some[i], m_board)); });
        for (size_t i = 0; i < some.size() && !m_result.interrupted; i++)
        {
            m_known[some[i].position] = found[i];
            if (found[i])
            {
                around.ready.push(*found[i]);
            }
        }
        return !some.empty();
    }

    /// Runs the next few; false where there are none.
    bool RunSome(Neighbourhood& around, size_t most)
    {
        std::vector<Step> steps;
        for (const Family& family : Next(around.ready, most))
        {
            steps.push_back({family, m_families.FirstOf(family), {}, false});
            steps.back().known = m_sink.Knows(steps.back().plan);
        }
        std::vector<char> done(steps.size(), 0);
        Together(steps.size(), [&](size_t i) {
            Step& step = steps[i];
            if (!step.known)
            {
                RunPlan(step);
            }
            done[i] = 1;
        });
        for (size_t i = 0; i < steps.size(); i++)
        {
            if (done[i] != 0)
            {
                Take(steps[i]);
            }
        }
        m_sink.Commit(m_frontier);
        return !steps.empty();
    }

    void RunPlan(Step& step) const
    {
        try
        {
            step.evaluation = Evaluate(m_engine, m_space.With(step.plan), m_options.run);
        }
        catch (const ConfigError& error)
        {
            step.evaluation = RefusalOf(error);
        }
    }

    void Take(Step& step)
    {
        const uint64_t position = step.family.position;
        if (step.known)
        {
            const auto stored = m_sink.Recall(step.plan);
            if (!stored)
            {
                return; // removed by somebody else in the meantime
            }
            step.evaluation = *stored;
        }
        HoldToBound(step.evaluation, step.plan, step.family.form.bound);
        if (!step.known)
        {
            m_sink.Add(step.plan, step.evaluation);
            m_result.engineRuns++;
        }
        m_sink.CountIn(position, step.plan, step.evaluation);
        if (const auto* report = std::get_if<RunReport>(&step.evaluation))
        {
            const Ranked ranked{position, step.plan, CanonicalText(step.plan), *report};
            m_board.Offer(ranked);
            m_result.ran.push_back(ranked);
        }
    }

    /// Does the jobs on several threads; notes where that was interrupted.
    void Together(size_t jobs, const std::function<void(size_t)>& work)
    {
        Crew crew(m_options.jobs, jobs, m_options.stop, work);
        size_t taken = 0;
        for (bool last = false; !last;)
        {
            taken += crew.Take(g_progressTime, last).size();
            Tell();
        }
        if (const auto error = crew.Error())
        {
            std::rethrow_exception(error);
        }
        m_result.interrupted = m_result.interrupted || taken < jobs;
    }

    void Tell() const
    {
        if (m_options.progress)
        {
            const Ranked* best = m_board.First();
            m_options.progress({m_frontier.next,
                                m_families.Positions(),
                                m_result.ran.size(),
                                best == nullptr ? std::nullopt : std::optional(*best),
                                false});
        }
    }

    const SearchSpace& m_space;
    const Engine& m_engine;
    const SearchOptions& m_options;
    ResultSink& m_sink;
    Families m_families;
    Frontier m_frontier;
    Leaderboard m_board;
    /// What is known of plans that were looked at, by position, and comes next; none where that is
    /// nothing.
    std::map<uint64_t, std::optional<Family>> m_known;
    DescentResult m_result;
};

} // namespace

DescentResult
FindFirst(const SearchSpace& space,
          const Engine& engine,
          const SearchOptions& options,
          ResultSink& sink)
{
    return Descent(space, engine, options, sink).First();
}

DescentResult
Descend(const SearchSpace& space,
        const Engine& engine,
        const SearchOptions& options,
        const std::vector<Plan>& starts,
        ResultSink& sink)
{
    return Descent(space, engine, options, sink).Run(starts);
}

} // namespace scaleacross
