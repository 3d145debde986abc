// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/search-space.h"

#include "core/base/text.h"
#include "core/explore/plan-meaning.h"
#include "core/spec/normal-plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

namespace scaleacross
{

namespace
{

/// Texts only where need be: what is not given may follow to be the same.
bool
AreEqual(const Plan& a, const Plan& b)
{
    const auto& fields = PlanFields();
    return std::all_of(fields.begin(), fields.end(), [&](const PlanField& field) {
        return field.equal(a, b) || field.get(a) == field.get(b);
    });
}

} // namespace

struct SearchSpace::Children
{
    /// Some that have as many distinct plans each.
    struct Kind
    {
        uint64_t first; //!< one of them
        uint64_t count;
    };

    std::vector<uint64_t> distinct;
    std::map<std::vector<uint64_t>, Kind> kinds; //!< by context
};

struct SearchSpace::Known
{
    explicit Known(const Scenario& scenario)
        : meaning(scenario)
    {
    }

    const PlanMeaning meaning;
    std::set<uint64_t> shardRanks; //!< the values that plan.shard_ranks has
    std::shared_mutex mutex;
    std::map<std::vector<uint64_t>, Parts> parts; //!< by context; what is there stays
    std::map<std::vector<uint64_t>, Children> children;
};

SearchSpace::SearchSpace(const Study& study)
    : m_known(std::make_shared<Known>(study.scenario)),
      m_scenario(study.scenario),
      m_dpGiven(study.dpGiven)
{
    m_known->shardRanks = {m_scenario.Job().plan.shardRanks};
    for (const auto& axis : study.search)
    {
        const std::string where = "search." + axis.key;
        const PlanField* field = FindPlanField(axis.key);
        if (field == nullptr)
        {
            std::vector<std::string> keys;
            for (const auto& known : PlanFields())
            {
                keys.push_back(known.key);
            }
            const std::string nearest = Nearest(axis.key, keys);
            throw ConfigError(where,
                              "no plan field has this name",
                              AnyOf(keys),
                              nearest.empty() ? "" : "did you mean " + nearest + "?");
        }
        const auto same = [field](const Axis& other) { return other.field == field; };
        if (std::any_of(m_axes.begin(), m_axes.end(), same))
        {
            throw ConfigError(where,
                              "varied twice",
                              "one list of values per field",
                              "join the two");
        }
        if (axis.values.empty())
        {
            throw ConfigError(where, "no values", field->allowed, "name at least one value");
        }
        Axis made{field, DepthOf(field->key), axis.values, {}, true, true};
        for (const auto& value : axis.values)
        {
            Plan plan;
            try
            {
                field->set(plan, value);
            }
            catch (const ConfigError& error)
            {
                throw error.At(where);
            }
            // Different words may be the same number.
            made.meansItself =
                made.meansItself &&
                std::none_of(made.plans.begin(), made.plans.end(), [&](const Plan& other) {
                    return field->equal(plan, other);
                });
            m_known->shardRanks.insert(plan.parallel.shardRanks);
            made.plans.push_back(std::move(plan));
        }
        if (axis.values.size() > (uint64_t{1} << 63) / m_size)
        {
            throw ConfigError(where,
                              "the search has more than 2^63 plans",
                              "fewer values or axes",
                              "fix some of the fields under plan");
        }
        made.staysOrResets = made.meansItself && PlanMeaning::StaysOrResets(*field);
        made.meansItself = made.meansItself && m_known->meaning.NeverChanges(*field);
        m_size *= axis.values.size();
        m_dpGiven = m_dpGiven || axis.key == "plan.dp";
        m_axes.push_back(std::move(made));
    }
    std::stable_sort(m_axes.begin(), m_axes.end(), [](const Axis& a, const Axis& b) {
        return a.depth < b.depth;
    });
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        if (i + 1 == m_axes.size() || m_axes[i + 1].depth != m_axes[i].depth)
        {
            m_levels.push_back(m_axes[i].depth);
            m_ends.push_back(i + 1);
        }
    }
    if (m_levels.empty())
    {
        m_levels.push_back(PlanDepth::Degrees);
        m_ends.push_back(0);
    }
}

Plan
SearchSpace::Make(const std::vector<size_t>& digits) const
{
    Plan plan{m_scenario.Job().plan, m_scenario.network};
    for (size_t i = 0; i < digits.size(); i++)
    {
        m_axes[i].field->assign(plan, m_axes[i].plans[digits[i]]);
    }
    return plan;
}

Plan
SearchSpace::Complete(Plan plan) const
{
    if (!m_dpGiven)
    {
        ParallelPlan& p = plan.parallel;
        const uint64_t replica = uint64_t{p.tp} * p.cp * p.pp;
        const uint64_t dp = m_scenario.cluster.Gpus() / replica;
        p.dp = static_cast<uint32_t>(std::max<uint64_t>(dp, 1));
    }
    if (m_scenario.cluster.buildings.size() == 1 && plan.parallel.pp == 1)
    {
        plan.parallel.apportion = "even"; // there is one stage, and replicas are alike
    }
    return Normalised(std::move(plan));
}

std::vector<size_t>
SearchSpace::DigitsOf(uint64_t index) const
{
    SCALEACROSS_INVARIANT(index < m_size, std::to_string(index));
    std::vector<size_t> digits(m_axes.size());
    for (size_t i = m_axes.size(); i-- > 0;)
    {
        digits[i] = index % m_axes[i].values.size();
        index /= m_axes[i].values.size();
    }
    return digits;
}

bool
SearchSpace::Means(const Plan& plan, const Plan& meaning) const
{
    return AreEqual(m_known->meaning.Of(Complete(plan)), meaning);
}

std::vector<size_t>
SearchSpace::FirstWords(Plan plan,
                        const Plan& meaning,
                        std::vector<size_t> digits,
                        const std::vector<size_t>& open) const
{
    for (const size_t i : open)
    {
        for (size_t value = 0; value < m_axes[i].plans.size(); value++)
        {
            Plan other = plan;
            m_axes[i].field->assign(other, m_axes[i].plans[value]);
            if (Means(other, meaning))
            {
                plan = std::move(other);
                digits[i] = value;
                break;
            }
        }
    }
    return digits;
}

std::variant<Plan, SearchSpace::Repeated>
SearchSpace::Distinct(const std::vector<size_t>& digits, size_t begin, size_t end) const
{
    Plan plan = Complete(Make(digits));
    std::optional<Plan> meaning;
    std::vector<size_t> open; // axes of which another value may mean the same
    for (size_t i = begin; i < end; i++)
    {
        const Axis& axis = m_axes[i];
        if (axis.meansItself)
        {
            continue;
        }
        if (!meaning)
        {
            meaning = m_known->meaning.Of(plan);
        }
        if (!axis.staysOrResets || axis.field->usual(*meaning))
        {
            open.push_back(i);
        }
    }
    // What is meant, in values of the axes as far as these have them, so that fields that have lost
    // their meaning are in no other's way.
    Plan meant = plan;
    for (const size_t i : open)
    {
        const Axis& axis = m_axes[i];
        const bool has = std::any_of(axis.plans.begin(), axis.plans.end(), [&](const Plan& of) {
            return axis.field->equal(of, *meaning);
        });
        Plan other = meant;
        axis.field->assign(other, *meaning);
        if (has && !axis.field->equal(meant, *meaning) && Means(other, *meaning))
        {
            meant = std::move(other);
        }
    }
    std::vector<size_t> same = open.empty() ? digits : FirstWords(meant, *meaning, digits, open);
    if (same != digits && !Means(Make(same), *meaning))
    {
        // A value that follows from others, and that its axis lacks, was taken for one of it.
        same = FirstWords(Make(digits), *meaning, digits, open);
    }
    if (same != digits)
    {
        return Repeated{std::move(same)};
    }
    return plan;
}

std::variant<Plan, Infeasible>
SearchSpace::At(uint64_t index) const
{
    const std::vector<size_t> digits = DigitsOf(index);
    auto found = Distinct(digits, 0, m_axes.size());
    if (auto* plan = std::get_if<Plan>(&found))
    {
        return std::move(*plan);
    }
    const Repeated repeated = std::get<Repeated>(found);
    std::vector<std::string> values;
    std::vector<std::string> same;
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        const Axis& axis = m_axes[i];
        if (repeated.digits[i] != digits[i])
        {
            values.push_back(axis.field->key + " " + axis.values[digits[i]]);
            same.push_back(axis.values[repeated.digits[i]]);
        }
    }
    return Infeasible{"duplicate",
                      Label(Complete(Make(digits))) + ": " + AllOf(values) +
                          (values.size() == 1 ? " means" : " mean") + " the same as " +
                          AllOf(same) + " here"};
}

std::optional<Plan>
SearchSpace::PlanAt(uint64_t index) const
{
    auto found = Distinct(DigitsOf(index), 0, m_axes.size());
    auto* plan = std::get_if<Plan>(&found);
    return plan == nullptr ? std::nullopt : std::optional<Plan>(std::move(*plan));
}

uint64_t
SearchSpace::IndexOf(const std::vector<size_t>& digits) const
{
    uint64_t index = 0;
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        index = index * m_axes[i].values.size() + digits[i];
    }
    return index;
}

uint64_t
SearchSpace::FirstMeaning(uint64_t index) const
{
    std::vector<size_t> digits = DigitsOf(index);
    for (;;)
    {
        const auto found = Distinct(digits, 0, m_axes.size());
        const auto* repeated = std::get_if<Repeated>(&found);
        if (repeated == nullptr)
        {
            return IndexOf(digits);
        }
        digits = repeated->digits;
    }
}

std::vector<std::optional<size_t>>
SearchSpace::ValuesIn(const Plan& plan) const
{
    const Plan meaning = m_known->meaning.Of(Complete(plan));
    std::vector<std::optional<size_t>> digits;
    for (const Axis& axis : m_axes)
    {
        const auto begin = axis.plans.begin();
        auto value = std::find_if(begin, axis.plans.end(), [&](const Plan& of) {
            return axis.field->equal(of, plan);
        });
        // What the plan says may be another word for one of the values, here.
        value = value != axis.plans.end()
                    ? value
                    : std::find_if(begin, axis.plans.end(), [&](const Plan& of) {
                          Plan other = plan;
                          axis.field->assign(other, of);
                          return AreEqual(m_known->meaning.Of(Complete(other)), meaning);
                      });
        digits.push_back(value == axis.plans.end()
                             ? std::nullopt
                             : std::optional<size_t>(static_cast<size_t>(value - begin)));
    }
    return digits;
}

uint64_t
SearchSpace::NumberOf(const Plan& plan) const
{
    std::vector<size_t> digits;
    for (const auto& value : ValuesIn(plan))
    {
        digits.push_back(value.value_or(0));
    }
    return FirstMeaning(IndexOf(digits));
}

std::vector<uint64_t>
SearchSpace::NeighboursOf(uint64_t index) const
{
    const std::vector<size_t> digits = DigitsOf(index);
    std::vector<uint64_t> neighbours;
    uint64_t place = m_size; // of the axis: how far its next value is
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        const size_t values = m_axes[i].values.size();
        place /= values;
        const uint64_t without = index - digits[i] * place;
        for (size_t value = 0; value < values; value++)
        {
            if (value != digits[i])
            {
                neighbours.push_back(without + value * place);
            }
        }
    }
    return neighbours;
}

std::vector<std::string>
SearchSpace::KeysOutside(const Plan& plan) const
{
    const Plan meaning = m_known->meaning.Of(Complete(plan));
    const std::vector<std::optional<size_t>> values = ValuesIn(plan);
    std::vector<size_t> digits;
    std::vector<const PlanField*> lacking;
    for (size_t i = 0; i < m_axes.size(); i++)
    {
        digits.push_back(values[i].value_or(0));
        if (!values[i])
        {
            lacking.push_back(m_axes[i].field);
        }
    }
    // The plan of the space that has all of its values that there are, which becomes it field by
    // field: what follows from a field that is given its value differs no more.
    Plan near = Make(digits);
    for (const PlanField* field : lacking)
    {
        field->assign(near, plan);
    }
    std::vector<std::string> keys;
    Plan nearest = m_known->meaning.Of(Complete(near));
    const auto differs = [&](const PlanField& field) {
        return !field.equal(nearest, meaning) && field.get(nearest) != field.get(meaning);
    };
    for (const PlanField& field : PlanFields())
    {
        const bool follows = field.key == "plan.dp" && !m_dpGiven;
        const bool lacks = std::find(lacking.begin(), lacking.end(), &field) != lacking.end();
        if (lacks || (!follows && differs(field)))
        {
            keys.push_back(field.key);
            field.assign(near, plan);
            nearest = m_known->meaning.Of(Complete(near));
        }
    }
    if (keys.empty() && !AreEqual(nearest, meaning))
    {
        keys.emplace_back("plan.dp");
    }
    return keys;
}

uint64_t
SearchSpace::FamilySize(size_t level) const
{
    uint64_t size = 1;
    for (size_t i = m_ends[level]; i < m_axes.size(); i++)
    {
        size *= m_axes[i].values.size();
    }
    return size;
}

std::optional<Plan>
SearchSpace::FirstOf(size_t level, uint64_t number) const
{
    auto found = Distinct(DigitsOf(number * FamilySize(level)),
                          level == 0 ? 0 : m_ends[level - 1],
                          m_ends[level]);
    auto* plan = std::get_if<Plan>(&found);
    return plan == nullptr ? std::nullopt : std::optional<Plan>(std::move(*plan));
}

Plan
SearchSpace::KnownFirstOf(size_t level, uint64_t number) const
{
    return Complete(Make(DigitsOf(number * FamilySize(level))));
}

std::vector<uint64_t>
SearchSpace::ContextOf(size_t level, const Plan& first) const
{
    const ParallelPlan& p = first.parallel;
    std::vector<uint64_t> context = {level, p.ep == 1};
    const auto add = [&context](const std::vector<uint64_t>& more) {
        context.insert(context.end(), more.begin(), more.end());
    };
    add(m_known->meaning.PlaceContext(p, m_known->shardRanks));
    if (m_levels[level] < PlanDepth::Order)
    {
        context.push_back(p.tp == 1);
        add(m_known->meaning.OrderContext(p));
    }
    if (m_levels[level] == PlanDepth::Order)
    {
        add(m_known->meaning.KernelContext(p));
    }
    return context;
}

std::vector<uint64_t>
SearchSpace::ContextOfNext(size_t level, const Plan& first) const
{
    const ParallelPlan& p = first.parallel;
    std::vector<uint64_t> context;
    switch (m_levels[level + 1])
    {
    case PlanDepth::Degrees:
    case PlanDepth::Order:
        context = m_known->meaning.OrderContext(p);
        break;
    case PlanDepth::Kernels:
        context = m_known->meaning.KernelContext(p);
        break;
    case PlanDepth::Shards:
        context = m_known->meaning.PlaceContext(p, m_known->shardRanks);
        break;
    case PlanDepth::Network:
        context = m_known->meaning.PlaceContext(p, m_known->shardRanks);
        context.push_back(p.ep == 1);
        break;
    }
    context.push_back(level);
    return context;
}

const SearchSpace::Children&
SearchSpace::ChildrenOf(size_t level, uint64_t number, const Plan& first) const
{
    const std::vector<uint64_t> context = ContextOfNext(level, first);
    {
        const std::shared_lock<std::shared_mutex> lock(m_known->mutex);
        const auto known = m_known->children.find(context);
        if (known != m_known->children.end())
        {
            return known->second;
        }
    }
    const uint64_t all = FamilySize(level) / FamilySize(level + 1);
    Children children;
    for (uint64_t i = 0; i < all; i++)
    {
        if (const auto plan = FirstOf(level + 1, number * all + i))
        {
            children.distinct.push_back(i);
            children.kinds.try_emplace(ContextOf(level + 1, *plan), Children::Kind{i, 0})
                .first->second.count++;
        }
    }
    const std::unique_lock<std::shared_mutex> lock(m_known->mutex);
    return m_known->children.try_emplace(context, std::move(children)).first->second;
}

const SearchSpace::Parts&
SearchSpace::PartsOf(size_t level, uint64_t number, const Plan& first) const
{
    static const Parts one{{}, 1};
    if (level + 1 == m_levels.size())
    {
        return one;
    }
    const std::vector<uint64_t> context = ContextOf(level, first);
    {
        const std::shared_lock<std::shared_mutex> lock(m_known->mutex);
        const auto known = m_known->parts.find(context);
        if (known != m_known->parts.end())
        {
            return known->second;
        }
    }
    const Children& children = ChildrenOf(level, number, first);
    const uint64_t all = FamilySize(level) / FamilySize(level + 1);
    Parts parts{children.distinct, 0};
    for (const auto& [of, kind] : children.kinds)
    {
        const uint64_t child = number * all + kind.first;
        parts.count += kind.count * PartsOf(level + 1, child, KnownFirstOf(level + 1, child)).count;
    }
    const std::unique_lock<std::shared_mutex> lock(m_known->mutex);
    return m_known->parts.try_emplace(context, std::move(parts)).first->second;
}

std::vector<std::string>
SearchSpace::ValuesOf(const std::string& key) const
{
    for (const auto& axis : m_axes)
    {
        if (axis.field->key == key)
        {
            return axis.values;
        }
    }
    return {FindPlanField(key)->get(Fixed())};
}

Scenario
SearchSpace::With(const Plan& plan) const
{
    Scenario scenario = m_scenario;
    scenario.Job().plan = plan.parallel;
    scenario.network = plan.network;
    return scenario;
}

std::vector<NetworkPlan>
SearchSpace::Networks(size_t most) const
{
    std::vector<Plan> plans = {Make({})};
    for (const Axis& axis : m_axes)
    {
        if (axis.depth != PlanDepth::Network)
        {
            continue;
        }
        if (plans.size() * axis.plans.size() > most)
        {
            return {};
        }
        std::vector<Plan> all;
        for (const Plan& plan : plans)
        {
            for (const Plan& value : axis.plans)
            {
                all.push_back(plan);
                axis.field->assign(all.back(), value);
            }
        }
        plans = std::move(all);
    }
    std::vector<NetworkPlan> networks;
    for (const Plan& plan : plans)
    {
        networks.push_back(plan.network);
    }
    return networks;
}

Plan
SearchSpace::Fixed() const
{
    return Complete(Make({}));
}

std::string
SearchSpace::LabelOf(const Plan& plan) const
{
    std::string label = Label(plan);
    for (const auto& axis : m_axes)
    {
        if (axis.field->key.rfind("network.", 0) == 0)
        {
            label += " " + axis.field->key.substr(8) + "=" + axis.field->get(plan);
        }
    }
    return label;
}

std::string
SearchSpace::Text() const
{
    std::string text = "fixed " + CanonicalText(Fixed());
    text += m_dpGiven ? "; dp given" : "; dp derived";
    for (const auto& axis : m_axes)
    {
        text += "; " + axis.field->key;
        for (const auto& value : axis.values)
        {
            text += " " + value;
        }
    }
    return text;
}

} // namespace scaleacross
