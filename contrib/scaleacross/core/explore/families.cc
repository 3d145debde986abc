// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/families.h"

#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace scaleacross
{

namespace
{

/// What is known from two sources, each below the truth.
ClosedForm
Joined(const ClosedForm& a, const ClosedForm& b)
{
    return {std::max(a.bound, b.bound),
            std::max(a.memoryMax, b.memoryMax),
            std::max(a.crossBuildingBytes, b.crossBuildingBytes)};
}

/// The x < modulus of which a x = 1 (mod modulus), by Euclid's algorithm: r = a x at every step.
/// Domain: a and modulus have no common divisor, modulus > 1.
uint64_t
InverseOf(uint64_t a, uint64_t modulus)
{
    int64_t x = 0;
    int64_t nextX = 1;
    auto r = static_cast<int64_t>(modulus);
    auto nextR = static_cast<int64_t>(a);
    while (nextR != 0)
    {
        const int64_t quotient = r / nextR;
        x = std::exchange(nextX, x - quotient * nextX);
        r = std::exchange(nextR, r - quotient * nextR);
    }
    return static_cast<uint64_t>(x < 0 ? x + static_cast<int64_t>(modulus) : x);
}

} // namespace

void
Look::Reject(const std::string& reason, uint64_t plans, const std::string& example)
{
    if (plans > 0)
    {
        Count& count = rejected[reason];
        if (count.count == 0)
        {
            count.example = example;
        }
        count.count += plans;
    }
}

Families::Families(const SearchSpace& space,
                   const SearchOptions& options,
                   Runs runs,
                   Counts counts,
                   Looks looks)
    : m_space(space),
      m_options(options),
      m_runs(runs),
      m_counts(counts),
      m_looks(looks),
      m_glance(options.glance ? options.glance(space) : Glance()),
      m_heads(space.Size() / space.FamilySize(0))
{
    const std::vector<PlanDepth>& levels = space.Levels();
    for (size_t level = 0; level < levels.size(); level++)
    {
        m_sizes.push_back(space.FamilySize(level));
        const bool last = level + 1 == levels.size();
        const auto behind = static_cast<int>(last ? PlanDepth::Network : levels[level + 1]);
        m_depths.push_back(last ? PlanDepth::Network : static_cast<PlanDepth>(behind - 1));
    }
    // Larger ones nobody walks through to the end.
    if (m_heads > 2 && m_heads < uint64_t{1} << 31)
    {
        m_stride = static_cast<uint64_t>(0.6180339887498949 * static_cast<double>(m_heads));
        while (std::gcd(m_stride, m_heads) != 1)
        {
            m_stride++;
        }
    }
}

uint64_t
Families::IndexOf(uint64_t position) const
{
    const uint64_t size = m_sizes.front();
    const uint64_t head = (m_options.shard.Begin(m_space.Size(), size) + position) / size;
    return (m_stride == 1 ? head : head * m_stride % m_heads) * size + position % size;
}

uint64_t
Families::PositionOf(uint64_t index) const
{
    const uint64_t size = m_sizes.front();
    uint64_t head = index / size;
    if (m_stride != 1)
    {
        head = head * InverseOf(m_stride, m_heads) % m_heads;
    }
    return head * size + index % size - m_options.shard.Begin(m_space.Size(), size);
}

uint64_t
Families::NumberOf(const Family& family) const
{
    return IndexOf(family.position) / m_sizes[family.level];
}

Plan
Families::FirstOf(const Family& family) const
{
    return m_space.KnownFirstOf(family.level, NumberOf(family));
}

bool
Families::CanMatter(const Plan& plan, const ClosedForm& form, const Leaderboard& board) const
{
    return m_runs == Runs::Everything || board.CanMatter(plan.parallel.crossing, form);
}

Look
Families::AtHeads(uint64_t position, uint64_t count, const Leaderboard& board) const
{
    Look look;
    const uint64_t size = m_sizes.front();
    for (uint64_t i = 0; i < count; i++)
    {
        const Family family{{}, position + i * size, 0, Family::Next::Split};
        if (const auto plan = m_space.FirstOf(0, NumberOf(family)))
        {
            LookAt(family, *plan, board, look);
            continue;
        }
        look.duplicate = look.duplicate ? look.duplicate : family.position;
        look.Reject(kDuplicate, size, "");
        look.decided += size;
    }
    return look;
}

const std::vector<uint64_t>&
Families::PartsOf(const Family& family) const
{
    return m_space.PartsOf(family.level, NumberOf(family), FirstOf(family)).distinct;
}

Look
Families::AtParts(const Family& family, size_t begin, size_t end, const Leaderboard& board) const
{
    Look look;
    const std::vector<uint64_t>& parts = PartsOf(family);
    const uint64_t size = m_sizes[family.level + 1];
    const uint64_t all = m_sizes[family.level] / size;
    if (begin == 0 && parts.size() < all)
    {
        // The first that is not there.
        uint64_t missing = 0;
        while (missing < parts.size() && parts[missing] == missing)
        {
            missing++;
        }
        look.duplicate = family.position + missing * size;
        look.Reject(kDuplicate, (all - parts.size()) * size, "");
        look.decided += (all - parts.size()) * size;
    }
    for (size_t i = begin; i < end; i++)
    {
        const Family part{family.form,
                          family.position + parts[i] * size,
                          family.level + 1,
                          Family::Next::Split};
        LookAt(part, FirstOf(part), board, look);
    }
    return look;
}

void
Families::LookAt(Family family, const Plan& plan, const Leaderboard& board, Look& look) const
{
    const bool isPlan = ArePlans(family.level);
    if (!m_glance)
    {
        // What is known of a family is that it is there.
        Add(family,
            plan,
            isPlan ? Filter(family, plan, board) : Told(family.form),
            isPlan ? Family::Next::Run : Family::Next::Split,
            look);
        return;
    }
    // Of the network it says nothing that it has not said above.
    const bool isTold = family.level > 0 && m_depths[family.level - 1] >= PlanDepth::Shards;
    const Told told = isTold ? Told(family.form) : LookFirst(family, plan, board);
    const auto* form = std::get_if<ClosedForm>(&told);
    if (form != nullptr && !CanMatter(plan, *form, board))
    {
        family.form = *form;
        RuleOut(family, plan, board, look);
        return;
    }
    const bool failed = std::holds_alternative<Failure>(told);
    Add(family,
        plan,
        told,
        !isPlan  ? Family::Next::Split
        : failed ? Family::Next::Run
                 : Family::Next::Filter,
        look);
}

Look
Families::AtPlan(uint64_t position, const Leaderboard& board) const
{
    Look look;
    const Family family{{}, position, m_sizes.size() - 1, Family::Next::Split};
    const Plan plan = FirstOf(family);
    const Told told = m_glance ? LookFirst(family, plan, board) : Filter(family, plan, board);
    const auto* form = std::get_if<ClosedForm>(&told);
    if (form != nullptr && CanMatter(plan, *form, board))
    {
        Add(family, plan, told, m_glance ? Family::Next::Filter : Family::Next::Run, look);
    }
    return look;
}

Look
Families::Filtered(const Family& family, const Leaderboard& board) const
{
    Look look;
    const Plan plan = FirstOf(family);
    Add(family, plan, Filter(family, plan, board), Family::Next::Run, look);
    return look;
}

std::optional<ClosedForm>
Families::KnownOf(const Plan& plan) const
{
    const Scenario scenario = m_space.With(plan);
    const auto filtered = m_options.filter(scenario, Always);
    const auto* form = std::get_if<ClosedForm>(&filtered);
    if (form == nullptr || !m_glance)
    {
        return form == nullptr ? std::nullopt : std::optional<ClosedForm>(*form);
    }
    const auto glanced = m_glance(scenario, PlanDepth::Network, Always);
    const auto* first = std::get_if<ClosedForm>(&glanced);
    return first == nullptr ? std::nullopt : std::optional<ClosedForm>(Joined(*form, *first));
}

Families::Told
Families::LookFirst(const Family& family, const Plan& plan, const Leaderboard& board) const
{
    const bool isWhole = m_looks == Looks::Whole || !plan.parallel.schedule->Facts().overlapsPasses;
    return Hear(family, plan, [&](const Scenario& scenario) {
        return m_glance(scenario, m_depths[family.level], [&](const ClosedForm& form) {
            return isWhole && CanMatter(plan, Joined(form, family.form), board);
        });
    });
}

Families::Told
Families::Filter(const Family& family, const Plan& plan, const Leaderboard& board) const
{
    return Hear(family, plan, [&](const Scenario& scenario) {
        return m_options.filter(scenario, [&](const ClosedForm& form) {
            return CanMatter(plan, Joined(form, family.form), board);
        });
    });
}

template <class Tell>
Families::Told
Families::Hear(const Family& family, const Plan& plan, const Tell& tell) const
{
    const bool isPlan = ArePlans(family.level);
    try
    {
        const std::variant<ClosedForm, Infeasible> told = tell(m_space.With(plan));
        if (const auto* infeasible = std::get_if<Infeasible>(&told))
        {
            return *infeasible;
        }
        return Joined(std::get<ClosedForm>(told), family.form);
    }
    catch (const ConfigError& error)
    {
        // Another of them may do.
        return isPlan ? Told(RefusalOf(error)) : Told(family.form);
    }
    catch (const RunError& error) // as if the engine had thrown it
    {
        return isPlan ? Told(Failure{error.Reason(), error.what()}) : Told(family.form);
    }
}

void
Families::Add(Family family, const Plan& plan, const Told& told, Family::Next next, Look& look)
    const
{
    if (const auto* no = std::get_if<Infeasible>(&told))
    {
        Reject(family, plan, no->reason, no->detail, look);
        return;
    }
    if (const auto* failure = std::get_if<Failure>(&told))
    {
        look.failures[family.position] = *failure;
    }
    else
    {
        family.form = std::get<ClosedForm>(told);
    }
    family.next = next;
    look.open.push_back(family);
}

void
Families::RuleOut(const Family& family,
                  const Plan& first,
                  const Leaderboard& board,
                  Look& look) const
{
    look.bound = std::min(look.bound, family.form.bound);
    look.left = std::min(look.left, board.Least(family.form));
    Reject(family,
           first,
           kRuledOut,
           Label(first) + " cannot take less than " + ToString(family.form.bound),
           look);
}

void
Families::Reject(const Family& family,
                 const Plan& first,
                 const std::string& reason,
                 const std::string& example,
                 Look& look) const
{
    if (m_counts == Counts::Nothing)
    {
        return;
    }
    const uint64_t distinct = m_space.PartsOf(family.level, NumberOf(family), first).count;
    const uint64_t all = SizeOf(family.level);
    look.Reject(reason, distinct, example);
    look.Reject(kDuplicate, all - distinct, "");
    look.decided += all;
}

} // namespace scaleacross
