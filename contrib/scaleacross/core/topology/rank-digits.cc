// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/rank-digits.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace scaleacross
{

namespace
{

/// Where a dimension first stands in an order.
uint32_t
PlaceOf(const Crossing& order, Dimension dimension)
{
    uint32_t place = 0;
    while (place < order.size && order.parts[place].dimension != dimension)
    {
        place++;
    }
    return place;
}

/// X of DegreeOf().
uint32_t
ExpertPartOfData(const ParallelPlan& plan)
{
    if (!plan.FoldsExperts())
    {
        return plan.ep;
    }
    if (PlaceOf(plan.crossing, Dimension::Data) < PlaceOf(plan.crossing, Dimension::Expert))
    {
        return std::gcd(plan.ep, plan.dp);
    }
    const uint64_t group = uint64_t{plan.etp} * plan.ep;
    return static_cast<uint32_t>(group / std::gcd(group, uint64_t{plan.tp} * plan.cp));
}

/// Ranks of a stage that are evenly apart: from the one with the number `begin` in the stage on,
/// rank = number x factor (beside what stays the same).
struct Run
{
    uint64_t begin;
    uint64_t factor;
};

std::vector<Run>
RunsOf(const RankDigits& digits)
{
    std::vector<Run> runs;
    uint64_t number = 1;
    for (const RankDigit& digit : digits)
    {
        if (digit.dimension == Dimension::Pipeline || digit.axis.count == 1)
        {
            continue;
        }
        const uint64_t factor = digit.axis.stride / number;
        if (runs.empty() || runs.back().factor != factor)
        {
            runs.push_back({number, factor});
        }
        number *= digit.axis.count;
    }
    return runs;
}

/// Adds a digit of the ranks of a stage by their numbers there, in pieces where runs end.
std::optional<Infeasible>
AddInRuns(const RankDigit& digit, const std::vector<Run>& runs, RankDigits& found)
{
    const uint64_t begin = digit.axis.stride;
    const uint64_t end = begin * digit.axis.count;
    for (size_t i = 0; i < runs.size(); i++)
    {
        const uint64_t from = std::max(begin, runs[i].begin);
        const uint64_t to = i + 1 < runs.size() ? std::min(end, runs[i + 1].begin) : end;
        if (from >= to)
        {
            continue;
        }
        if (from % begin != 0 || to % from != 0 || end % to != 0)
        {
            return Infeasible{"degrees",
                              digit.name + " " + std::to_string(digit.axis.count) + " of every " +
                                  std::to_string(begin) +
                                  ". rank of a stage is cut unevenly by pp, which stands at rank " +
                                  std::to_string(to < end ? to : from) +
                                  ": take degrees that divide there, or crossing: pp"};
        }
        found.push_back(
            {digit.dimension,
             {static_cast<uint32_t>(from * runs[i].factor), static_cast<uint32_t>(to / from)},
             digit.name});
    }
    return std::nullopt;
}

} // namespace

uint32_t
DegreeOf(const ParallelPlan& plan, Dimension dimension)
{
    switch (dimension)
    {
    case Dimension::Tensor:
        return plan.tp;
    case Dimension::Context:
        return plan.cp;
    case Dimension::Expert:
        return ExpertPartOfData(plan);
    case Dimension::Pipeline:
        return plan.pp;
    case Dimension::Data:
        return plan.dp / ExpertPartOfData(plan);
    }
    return 1;
}

std::variant<RankDigits, Infeasible>
DigitsOf(const ParallelPlan& plan)
{
    const Crossing& order = plan.crossing;
    std::array<uint64_t, kDimensions> counted; // by dimension: product of the counts given
    counted.fill(1);
    for (uint32_t i = 0; i < order.size; i++)
    {
        counted[static_cast<size_t>(order.parts[i].dimension)] *=
            std::max(1U, order.parts[i].count);
    }
    RankDigits digits;
    uint32_t stride = 1;
    for (uint32_t i = 0; i < order.size; i++)
    {
        const Dimension dimension = order.parts[i].dimension;
        const uint64_t others = counted[static_cast<size_t>(dimension)];
        const uint32_t degree = DegreeOf(plan, dimension);
        if (degree % others != 0)
        {
            return Infeasible{"degrees",
                              "the " + std::to_string(others) + " of " + ToString(dimension) +
                                  " in " + ToString(order) + " do not divide its degree " +
                                  std::to_string(degree) +
                                  ": take a multiple of them, or other numbers in "
                                  "plan.crossing"};
        }
        const uint32_t count = order.parts[i].count != 0 ? order.parts[i].count
                                                         : degree / static_cast<uint32_t>(others);
        digits.push_back({dimension, {stride, count}, ToString(dimension)});
        stride *= count;
    }
    return digits;
}

std::variant<RankDigits, Infeasible>
ExpertDigitsOf(const ParallelPlan& plan, const RankDigits& digits)
{
    const std::vector<Run> runs = RunsOf(digits);
    RankDigits found;
    uint32_t number = 1;
    for (uint32_t i = 0; i < plan.crossing.size; i++)
    {
        const Dimension dimension = plan.crossing.parts[i].dimension;
        RankDigit digit{dimension, {number, 1}, "e" + ToString(dimension)};
        switch (dimension)
        {
        case Dimension::Tensor:
            digit.axis.count = plan.etp;
            break;
        case Dimension::Expert:
            digit.axis.count = plan.ep;
            digit.name = ToString(dimension);
            break;
        case Dimension::Data:
            digit.axis.count = static_cast<uint32_t>(plan.ExpertData());
            break;
        case Dimension::Context:
        case Dimension::Pipeline:
            continue;
        }
        if (auto bad = AddInRuns(digit, runs, found))
        {
            return *bad;
        }
        number *= digit.axis.count;
    }
    return found;
}

std::optional<Infeasible>
CheckExperts(const ParallelPlan& plan)
{
    const auto text = [](const char* name, uint64_t value) {
        return name + (" " + std::to_string(value));
    };
    if (!plan.FoldsExperts())
    {
        return plan.dp % plan.ep == 0
                   ? std::nullopt
                   : std::optional<Infeasible>(
                         {"degrees",
                          text("ep", plan.ep) + " does not divide " + text("dp", plan.dp) +
                              ": give etp, with which it divides tp x cp x dp / etp"});
    }
    if (plan.tp % plan.etp != 0)
    {
        return Infeasible{"degrees",
                          text("etp", plan.etp) + " does not divide " + text("tp", plan.tp) +
                              ": take a divisor of tp, 1 for whole experts"};
    }
    const uint64_t ranks = uint64_t{plan.tp} * plan.cp * plan.dp;
    const uint64_t group = uint64_t{plan.etp} * plan.ep;
    if (ranks % group != 0)
    {
        return Infeasible{"degrees",
                          text("etp", plan.etp) + " x " + text("ep", plan.ep) + " is " +
                              std::to_string(group) + ", which does not divide the " +
                              std::to_string(ranks) +
                              " ranks of a stage, tp x cp x dp: take a product that does"};
    }
    for (uint32_t i = 0; i < plan.crossing.size; i++)
    {
        const Crossing::Part& part = plan.crossing.parts[i];
        if (part.count != 0 && part.dimension != Dimension::Pipeline)
        {
            return Infeasible{"degrees",
                              "with " + text("etp", plan.etp) + " only pp may stand in several " +
                                  "places of an order, not " + ToString(part.dimension) +
                                  " as in " + ToString(plan.crossing) + ": leave its number out"};
        }
    }
    return std::nullopt;
}

RankGroup
GroupOf(const RankDigits& digits, std::initializer_list<Dimension> dimensions)
{
    std::vector<RankGroup::Axis> axes;
    for (const auto& digit : digits)
    {
        if (std::find(dimensions.begin(), dimensions.end(), digit.dimension) != dimensions.end())
        {
            axes.push_back(digit.axis);
        }
    }
    return RankGroup(axes);
}

} // namespace scaleacross
