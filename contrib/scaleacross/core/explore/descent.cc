// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/descent.h"

#include "core/explore/crew.h"
#include "core/explore/families.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr auto g_progressTime = std::chrono::milliseconds(100);
/// In how many axes neighbours differ at most.
constexpr size_t g_reach = 2;
/// Crossings among whose plans it goes down at a time.
constexpr size_t g_ways = 2;
/// Families of the first level that are a sample of all, where there is no start.
constexpr uint64_t g_sample = 4096;
/// Plans that are tried of one family of it in turn, and at most.
constexpr size_t g_tries = 8;
constexpr size_t g_mostTries = 64;
/// Families of which a plan is found, before it goes down from the best of these.
constexpr size_t g_found = 8;
/// Families that are looked at before it is asked whether to stop, and parts of one that are a
/// sample of all.
constexpr size_t g_together = 64;
/// Plans that are looked at, that are filtered, and that run, in turns: were all of those looked at
/// and filtered first whose bound is less than the least by the filter, nothing would run for long.
/// Numbers of their own and not that of the threads, so that what runs does not depend on these.
constexpr size_t g_seen = 64;
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

/// Plans that may be better than what has run, by what is to be done next: in the order in which
/// they are looked at, and then least bound first.
struct Neighbourhood
{
    using Queue = std::priority_queue<Family>;

    /// The crossing whose best plan is to be improved; plans of others are for the best of all
    /// alone, and so are all where there is none.
    std::optional<Crossing> crossing;
    std::deque<uint64_t> unseen; //!< positions
    Queue unclear{};
    Queue ready{};
};

/// Where a plan that can run is looked for: families of the first level, least bound first.
struct Heads
{
    std::vector<Family> families{};
    size_t tries{0};
    size_t found{0}; //!< plans that have a time

    /// Those whose plans are tried next come first again when all have been.
    const Family& Next() const
    {
        return families[tries / g_tries % families.size()];
    }

    /// How many plans of it have been tried.
    size_t TriesOfNext() const
    {
        return tries / g_tries / families.size() * g_tries + tries % g_tries;
    }

    /// Leaves what is left of the turn of the family that was tried last: the next one is next.
    void LeaveTried()
    {
        tries = (tries + g_tries - 1) / g_tries * g_tries;
    }

    bool AreLeft() const
    {
        return found < g_found && tries < families.size() * g_mostTries;
    }
};

/// The way down from the best plan of a crossing.
struct Way
{
    Crossing crossing;
    Heads heads{};          //!< where its first plan is looked for
    uint64_t centre{0};     //!< the best plan, whose neighbours are looked at
    size_t reach{0};        //!< in how many axes they differ; 0: there is no centre
    Neighbourhood around{}; //!< what is left of them
    uint64_t steps{0};
    bool isAtEnd{false};
};

/// One call of Descend() or FindFirst().
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
          m_families(space, options, Runs::WhatCanMatter, Counts::Nothing, Looks::WithoutPairs),
          m_frontier(sink.Resume()),
          m_board(1, GoalsOf(options.goals))
    {
    }

    DescentResult First()
    {
        if (m_frontier.next < m_families.Positions())
        {
            RunBestStored();
            if (m_result.ran.empty())
            {
                Heads heads{Sample()};
                while (heads.AreLeft() && m_result.ran.empty() && !IsStopped())
                {
                    TryOne(heads);
                }
            }
        }
        return std::move(m_result);
    }

    DescentResult Run(const std::vector<Plan>& starts)
    {
        if (m_frontier.next < m_families.Positions())
        {
            std::set<uint64_t> positions;
            for (const Plan& start : starts)
            {
                positions.insert(m_families.PositionOf(m_space.NumberOf(start)));
            }
            RunPlans(positions);
            const std::vector<uint64_t> ran = Ordered(m_result.ran);
            FindWays();
            RunBestStored();
            GoDown();
            for (const uint64_t start : ran)
            {
                GoDownFrom(start);
            }
        }
        return std::move(m_result);
    }

  private:
    /// A step to a plan that is better by less than the gap is one, too, and of every crossing.
    static Goals GoalsOf(Goals goals)
    {
        goals.front = {};
        goals.gap = 0;
        goals.restGap = 0;
        return goals;
    }

    void RunPlans(const std::set<uint64_t>& positions,
                  const std::optional<Crossing>& crossing = std::nullopt)
    {
        Neighbourhood all{crossing, {positions.begin(), positions.end()}};
        LookAtSome(all, positions.size());
        FilterSome(all, positions.size());
        RunSome(all, positions.size());
    }

    /// The best that is stored of each crossing.
    void RunBestStored()
    {
        Leaderboard stored(1, GoalsOf(m_options.goals));
        m_sink.Restore(m_families.Positions(), [&](uint64_t position, const RunReport& report) {
            const auto plan = m_space.PlanAt(m_families.IndexOf(position));
            if (plan)
            {
                stored.Offer({position, *plan, CanonicalText(*plan), report});
            }
            return plan.has_value();
        });
        for (const Ranked& best : stored.BestOfEach())
        {
            RunPlans({best.index}, best.plan.parallel.crossing);
        }
    }

    /// What can run of a sample of the families of the first level, least bound first.
    std::vector<Family> Sample()
    {
        std::vector<Family> sample;
        const uint64_t heads = std::min(m_families.Positions() / m_families.SizeOf(0), g_sample);
        for (uint64_t i = 0; i < heads && !IsStopped(); i += g_together)
        {
            const uint64_t count = std::min<uint64_t>(g_together, heads - i);
            const Look look = m_families.AtHeads(i * m_families.SizeOf(0), count, m_board);
            sample.insert(sample.end(), look.open.begin(), look.open.end());
        }
        return Sorted(std::move(sample));
    }

    /**
     * Runs a plan of the next family that may have the best of all. The first that is tried of a
     * family is at every level in the part with the least bound, the others in parts that are drawn
     * by multiples of a number of the level: who is fastest often lacks memory, and so do hundreds
     * that differ from it in little.
     */
    void TryOne(Heads& heads)
    {
        Family family = heads.Next();
        const size_t number = heads.TriesOfNext();
        heads.tries++;
        if (!MayBeBest(family.least))
        {
            heads.LeaveTried();
            return;
        }
        while (family.next == Family::Next::Split)
        {
            const std::vector<Family>& parts = PartsOf(family);
            if (parts.empty())
            {
                return;
            }
            const double drawn =
                static_cast<double>(number) *
                std::sqrt(3.0 + 4.0 * static_cast<double>(family.level)); // 3 mod 4: never a square
            const double part = drawn - std::floor(drawn);
            family = parts[static_cast<size_t>(part * static_cast<double>(parts.size()))];
        }
        const size_t before = m_result.ran.size();
        RunPlans({family.position}, m_families.FirstOf(family).parallel.crossing);
        heads.found += m_result.ran.size() - before;
        if (m_result.ran.size() > before)
        {
            heads.LeaveTried();
        }
    }

    /// What can run of a sample of the parts of a family, which may be thousands, least bound
    /// first.
    const std::vector<Family>& PartsOf(const Family& family)
    {
        const auto [known, isNew] = m_parts.try_emplace({family.level, family.position});
        if (!isNew)
        {
            return known->second;
        }
        const size_t all = m_families.PartsOf(family).size();
        const size_t sampled = std::min(all, g_together);
        std::vector<Look> looks(sampled);
        Together(sampled, [&](size_t i) {
            const size_t part = i * all / sampled;
            looks[i] = m_families.AtParts(family, part, part + 1, m_board);
        });
        std::vector<Family> parts;
        for (const Look& look : looks)
        {
            parts.insert(parts.end(), look.open.begin(), look.open.end());
        }
        known->second = Sorted(std::move(parts));
        return known->second;
    }

    /// By their bounds, least first.
    std::vector<Family> Sorted(std::vector<Family> families) const
    {
        for (Family& family : families)
        {
            family.least = m_board.Least(family.form);
        }
        std::sort(families.begin(), families.end(), [](const Family& a, const Family& b) {
            return b < a; // which says that it comes up later
        });
        return families;
    }

    /// Whether a plan that has at least this value may be better than all that have run.
    bool MayBeBest(double least) const
    {
        const Ranked* best = m_board.First();
        return best == nullptr || least < ValueOf(*best);
    }

    bool IsStopped()
    {
        m_result.interrupted =
            m_result.interrupted || (m_options.stop != nullptr && m_options.stop->load());
        return m_result.interrupted;
    }

    double ValueOf(const Ranked& ranked) const
    {
        return m_options.goals.objective->value(ranked.report, m_options.goals.rates);
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

    /// One way for each crossing of the space; those of which no plan has run begin in a sample.
    void FindWays()
    {
        bool haveStarts = true;
        for (const std::string& crossing : m_space.ValuesOf("plan.crossing"))
        {
            m_ways.push_back({Crossing::Parse(crossing)});
            haveStarts = haveStarts && m_board.BestOf(m_ways.back().crossing) != nullptr;
        }
        for (const Family& family : haveStarts ? std::vector<Family>() : Sample())
        {
            const Crossing crossing = m_families.FirstOf(family).parallel.crossing;
            for (Way& way : m_ways)
            {
                if (way.crossing == crossing && m_board.BestOf(crossing) == nullptr)
                {
                    way.heads.families.push_back(family);
                }
            }
        }
    }

    /// Goes down all ways, the best two at a time: the best of all may be in the valley of another
    /// crossing than the best start, and a third may be far above both, where runs take long.
    void GoDown()
    {
        while (Way* way = NextWay())
        {
            StepOn(*way);
        }
    }

    /// Of the g_ways best that are not at their ends the one that is behind by the effort that it
    /// was worth; none where all are.
    Way* NextWay()
    {
        std::vector<std::tuple<bool, double, Way*>> ways; // those that have begun first
        for (Way& way : m_ways)
        {
            const Ranked* best = m_board.BestOf(way.crossing);
            const bool isAtEnd =
                !way.heads.AreLeft() && (best == nullptr || (way.isAtEnd && IsAt(way, *best)));
            if (!isAtEnd && !IsStopped())
            {
                ways.emplace_back(best == nullptr,
                                  best != nullptr ? ValueOf(*best)
                                                  : way.heads.families.front().least,
                                  &way);
            }
        }
        std::sort(ways.begin(), ways.end());
        Way* next = nullptr;
        for (size_t i = 0; i < std::min(ways.size(), g_ways); i++)
        {
            Way* way = std::get<Way*>(ways[i]);
            next = next == nullptr || EffortOf(*way) < EffortOf(*next) ? way : next;
        }
        return next;
    }

    /// Steps, each the more the farther behind the best of all the best of the crossing is: one
    /// that is twice as slow has a step for eight of the best.
    double EffortOf(const Way& way) const
    {
        const Ranked* best = m_board.BestOf(way.crossing);
        const double behind =
            best == nullptr || way.heads.AreLeft() ? 1 : ValueOf(*best) / ValueOf(*m_board.First());
        return static_cast<double>(way.steps) * behind * behind * behind;
    }

    static bool IsAt(const Way& way, const Ranked& best)
    {
        return way.reach > 0 && way.centre == best.index;
    }

    /// Looks for the first plan of a crossing, goes on to its best, or tries a few plans around it.
    void StepOn(Way& way)
    {
        way.steps++;
        const Ranked* best = m_board.BestOf(way.crossing);
        if (way.heads.AreLeft())
        {
            TryOne(way.heads);
        }
        else if (!IsAt(way, *best))
        {
            way.centre = best->index;
            way.isAtEnd = false;
            Widen(way, 1);
        }
        else if (!TrySome(way.around))
        {
            way.isAtEnd = way.reach == g_reach;
            if (!way.isAtEnd)
            {
                Widen(way, way.reach + 1);
            }
        }
    }

    void Widen(Way& way, size_t reach)
    {
        way.reach = reach;
        way.around = {way.crossing, Around(way.centre, reach)};
    }

    /// Looks for a plan that is better than the best of all around another one; goes down from it.
    void GoDownFrom(uint64_t start)
    {
        const uint64_t before = m_board.First()->index;
        for (size_t reach = 1; reach <= g_reach && !m_result.interrupted; reach++)
        {
            Neighbourhood around{std::nullopt, Around(start, reach)};
            while (m_board.First()->index == before && !m_result.interrupted && TrySome(around))
            {
            }
            if (m_board.First()->index != before)
            {
                GoDown();
                return;
            }
        }
    }

    /// Looks at, filters and runs a few plans; false where none are left.
    bool TrySome(Neighbourhood& around)
    {
        const bool seen = LookAtSome(around, g_seen);
        const bool filtered = FilterSome(around, g_filtered);
        return RunSome(around, g_run) || filtered || seen;
    }

    /**
     * The positions of the plans that differ from one in so many axes, at least as far as steps of
     * values say: by the last of these axes, so that of those that differ in two the degrees come
     * first, whose product may have to stay.
     */
    std::deque<uint64_t> Around(uint64_t centre, size_t reach) const
    {
        const uint64_t number = m_families.IndexOf(centre);
        std::set<uint64_t> inside = {number};
        std::map<uint64_t, size_t> rim = {{number, 0}}; // with the last step
        for (; reach > 0; reach--)
        {
            std::map<uint64_t, size_t> wider;
            for (const auto& [from, last] : rim)
            {
                const std::vector<uint64_t> steps = m_space.NeighboursOf(from);
                for (size_t i = 0; i < steps.size(); i++)
                {
                    const size_t step = std::max(last, i);
                    size_t& known = wider.try_emplace(steps[i], step).first->second;
                    known = std::min(known, step);
                }
            }
            for (const uint64_t number : inside)
            {
                wider.erase(number);
            }
            for (const auto& [number, last] : wider)
            {
                inside.insert(number);
            }
            rim = std::move(wider);
        }
        std::vector<std::pair<size_t, uint64_t>> ordered;
        for (const auto& [number, last] : rim)
        {
            ordered.emplace_back(last, number);
        }
        std::sort(ordered.begin(), ordered.end());
        std::deque<uint64_t> positions;
        for (const auto& [last, number] : ordered)
        {
            positions.push_back(m_families.PositionOf(number));
        }
        return positions;
    }

    /// Looks at the next few positions, each as the distinct plan that it means: those that can run
    /// and be better than what has run go on, as far as they are known by now. False where there
    /// are none.
    bool LookAtSome(Neighbourhood& around, size_t most)
    {
        const size_t count = std::min(most, around.unseen.size());
        std::vector<uint64_t> positions(count);
        Together(count, [&](size_t i) {
            const uint64_t number = m_families.IndexOf(around.unseen[i]);
            positions[i] = m_families.PositionOf(m_space.FirstMeaning(number));
        });
        const auto end = around.unseen.begin() + static_cast<std::ptrdiff_t>(count);
        around.unseen.erase(around.unseen.begin(), end);
        std::vector<uint64_t> fresh;
        std::set<uint64_t> distinct;
        for (const uint64_t position : positions)
        {
            if (distinct.insert(position).second && m_known.count(position) == 0)
            {
                fresh.push_back(position);
            }
        }
        if (m_result.interrupted)
        {
            return false;
        }
        std::vector<std::optional<Family>> found(fresh.size());
        Together(fresh.size(),
                 [&](size_t i) { found[i] = OpenOf(m_families.AtPlan(fresh[i], m_board)); });
        if (m_result.interrupted)
        {
            return false;
        }
        for (size_t i = 0; i < fresh.size(); i++)
        {
            m_known[fresh[i]] = found[i];
        }
        for (const uint64_t position : distinct)
        {
            if (const auto& family = m_known.at(position))
            {
                (family->next == Family::Next::Run ? around.ready : around.unclear).push(*family);
            }
        }
        return count > 0;
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

    /// The next few, of what is to be done with them, that may still be better.
    std::vector<Family> Next(Neighbourhood& around, Family::Next what, size_t most)
    {
        auto& queue = what == Family::Next::Run ? around.ready : around.unclear;
        std::vector<Family> next;
        for (; !queue.empty() && next.size() < most; queue.pop())
        {
            const Family family = queue.top();
            auto& known = m_known.at(family.position);
            if (!known)
            {
                continue; // done on the way of another crossing
            }
            if (known->next != what)
            {
                around.ready.push(*known); // filtered there
                continue;
            }
            const Plan plan = m_families.FirstOf(family);
            if (plan.parallel.crossing != around.crossing && !MayBeBest(family.least))
            {
                continue; // left to those who look for the best of its crossing
            }
            if (m_families.CanMatter(plan, family.form, m_board))
            {
                next.push_back(family);
            }
            known = std::nullopt;
        }
        return next;
    }

    /// Asks the filter of the next few; false where there are none.
    bool FilterSome(Neighbourhood& around, size_t most)
    {
        const std::vector<Family> some = Next(around, Family::Next::Filter, most);
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
        for (const Family& family : Next(around, Family::Next::Run, most))
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
        if (!steps.empty())
        {
            m_sink.Commit(m_frontier);
        }
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
    Leaderboard m_board; //!< the best of all and of each crossing
    /// What is known of distinct plans that were looked at, by position, and comes next; none where
    /// that is nothing.
    std::map<uint64_t, std::optional<Family>> m_known;
    /// What PartsOf() has found, by level and position.
    std::map<std::pair<size_t, uint64_t>, std::vector<Family>> m_parts;
    std::vector<Way> m_ways;
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
