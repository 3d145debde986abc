// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/robust.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/uncertain-spec.h"
#include "core/topology/event-target.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// Shares are sums of products of decimal fractions. That of a tail is held to more than that of a
/// quantile, so that the two together are more than 1 in spite of rounding.
constexpr double g_rounding = 1e-9;

/// Plans that run between two looks at whether the next can still matter.
constexpr size_t g_together = 32;

Duration
OrNever(const std::optional<Duration>& time)
{
    return time.value_or(Duration::Max());
}

/// Cases by how long they take, the fastest first; those without a time last.
std::vector<size_t>
ByTime(const CaseTimes& times)
{
    std::vector<size_t> order(times.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&times](size_t a, size_t b) {
        return OrNever(times[a]) < OrNever(times[b]);
    });
    return order;
}

/// One call of FindRobust().
class Comparison
{
  public:
    explicit Comparison(const RobustQuestion& question)
        : m_question(question)
    {
    }

    /// Plans that are known already are passed over.
    void Add(const std::vector<Plan>& plans)
    {
        std::vector<Plan> fresh;
        for (const Plan& plan : plans)
        {
            if (m_known.insert(CanonicalText(plan)).second)
            {
                fresh.push_back(plan);
            }
        }
        const auto times =
            fresh.empty() ? std::vector<CaseTimes>() : m_question.run(fresh, m_answer.failed);
        for (size_t i = 0; i < fresh.size(); i++)
        {
            m_answer.plans.push_back({fresh[i],
                                      CanonicalText(fresh[i]),
                                      times[i],
                                      QuantileOf(times[i], m_question.shares, m_question.quantile),
                                      MeanOf(times[i], m_question.shares)});
            m_least = std::min(m_least, OrNever(m_answer.plans.back().quantile));
        }
    }

    /// Searches a case until nothing of it can be better. What it leaves takes at least so much.
    Duration Exhaust(size_t index)
    {
        for (size_t keep = m_question.keep;; keep = std::min(2 * keep, m_question.most))
        {
            const CaseSearch found = m_question.search(index, keep);
            m_answer.failed = m_answer.failed || found.failed;
            for (size_t i = 0; i < found.best.size();)
            {
                std::vector<Plan> some;
                for (; i < found.best.size() && some.size() < g_together; i++)
                {
                    if (found.best[i].second < m_least)
                    {
                        some.push_back(found.best[i].first);
                    }
                }
                Add(some);
            }
            if (found.beyond >= m_least || keep >= m_question.most)
            {
                return found.beyond;
            }
        }
    }

    RobustAnswer Answer(const std::vector<Duration>& left)
    {
        m_answer.bound = m_least;
        for (const Duration beyond : left)
        {
            m_answer.bound = std::min(m_answer.bound, beyond);
        }
        m_answer.proven = !m_answer.failed && m_answer.bound == m_least;
        std::sort(m_answer.plans.begin(),
                  m_answer.plans.end(),
                  [](const RobustPlan& a, const RobustPlan& b) {
                      return std::tuple(OrNever(a.quantile), OrNever(a.mean), a.text) <
                             std::tuple(OrNever(b.quantile), OrNever(b.mean), b.text);
                  });
        return m_answer;
    }

    RobustAnswer& Answer()
    {
        return m_answer;
    }

  private:
    const RobustQuestion& m_question;
    RobustAnswer m_answer;
    std::set<std::string> m_known;
    Duration m_least{Duration::Max()}; //!< quantile so far
};

} // namespace

std::string
UncertainCase::Name() const
{
    std::string name;
    for (const auto& [key, value] : values)
    {
        name += (name.empty() ? "" : ", ") + key;
        name += "=" + value;
    }
    return name;
}

/// Throws ConfigError (where = the figure's key) where two values of a figure are the same for all
/// spans: 30 km and 30000 m, or any multiples of nothing.
void
ExpectToDiffer(const ClusterSpec& cluster, const UncertainSpec::Figure& figure)
{
    std::vector<std::pair<std::string, ClusterSpec>> all;
    for (const SpreadSpec::Point& point : figure.spread.Points())
    {
        ClusterSpec one = cluster;
        SetFigureOfSpans(one, figure.key, point.value);
        for (const auto& [value, other] : all)
        {
            if (one == other)
            {
                throw ConfigError(
                    figure.key,
                    value + " and " + point.value + " are the same for every span",
                    "values that differ",
                    "leave one out; all multiples of nothing are nothing, give values there");
            }
        }
        all.emplace_back(point.value, std::move(one));
    }
}

std::vector<UncertainCase>
CasesOf(const Study& study)
{
    std::vector<UncertainCase> cases{{{}, 1, study.scenario}};
    for (const UncertainSpec::Figure& figure : study.uncertain->figures)
    {
        const std::string where = "uncertain." + figure.key;
        std::vector<UncertainCase> more;
        try
        {
            ExpectToDiffer(study.scenario.cluster, figure);
            for (const UncertainCase& before : cases)
            {
                for (const SpreadSpec::Point& point : figure.spread.Points())
                {
                    UncertainCase one = before;
                    one.values.emplace_back(figure.key, point.value);
                    one.share *= point.share;
                    SetFigureOfSpans(one.scenario.cluster, figure.key, point.value);
                    more.push_back(std::move(one));
                }
            }
        }
        catch (const ConfigError& error)
        {
            const bool ofField = error.Where() == figure.key;
            throw error.At(ofField ? where : where + "." + error.Where());
        }
        if (more.size() > kMostCases)
        {
            throw ConfigError(where,
                              "with this there are " + std::to_string(more.size()) +
                                  " combinations of values or more",
                              "up to " + std::to_string(kMostCases),
                              "give fewer values or points");
        }
        cases = std::move(more);
    }
    for (const UncertainCase& one : cases)
    {
        try
        {
            one.scenario.Validate();
            CheckEventTargets(one.scenario);
        }
        catch (const ConfigError& error)
        {
            throw error.At("uncertain, with " + one.Name() + ": " + error.Where());
        }
    }
    return cases;
}

std::optional<Duration>
QuantileOf(const CaseTimes& times, const std::vector<double>& shares, double quantile)
{
    double share = 0;
    for (const size_t index : ByTime(times))
    {
        share += shares[index];
        if (share >= quantile - g_rounding)
        {
            return times[index];
        }
    }
    return std::nullopt;
}

std::optional<Duration>
MeanOf(const CaseTimes& times, const std::vector<double>& shares)
{
    double mean = 0;
    for (size_t i = 0; i < times.size(); i++)
    {
        if (!times[i])
        {
            return std::nullopt;
        }
        mean += times[i]->S() * shares[i];
    }
    return Duration::Seconds(mean);
}

std::vector<size_t>
TailOf(const CaseTimes& times, const std::vector<double>& shares, double quantile)
{
    std::vector<size_t> order = ByTime(times);
    std::reverse(order.begin(), order.end());
    double share = 0;
    size_t count = 0;
    while (count < order.size() && share <= 1 - quantile + 2 * g_rounding)
    {
        share += shares[order[count++]];
    }
    order.resize(count);
    return order;
}

RobustAnswer
FindRobust(const std::vector<Plan>& nominal, const RobustQuestion& question)
{
    Comparison comparison(question);
    comparison.Add(nominal);
    RobustAnswer& answer = comparison.Answer();
    answer.tail = TailOf(answer.plans.front().times, question.shares, question.quantile);
    std::vector<Duration> left;
    for (const size_t index : answer.tail)
    {
        left.push_back(comparison.Exhaust(index));
    }
    return comparison.Answer(left);
}

} // namespace scaleacross
