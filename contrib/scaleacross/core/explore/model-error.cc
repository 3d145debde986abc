// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/model-error.h"

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace scaleacross
{

namespace
{

/// What plans may differ in.
enum Kind : uint8_t
{
    Tensor,
    Pipeline,
    Microbatch,
    Other,
    Placement,
    Network,
    Kinds
};

constexpr std::array<double, Kinds> kScales =
    {kTensorScale, kPipelineScale, kMicrobatchScale, kOtherScale, kOtherScale, kOtherScale};

Kind
KindOf(const std::string& key)
{
    static const std::map<std::string, Kind> known = {
        {"plan.tp", Tensor},
        {"plan.async_tp", Tensor},
        {"plan.pp", Pipeline},
        {"plan.schedule", Pipeline},
        {"plan.chunks", Pipeline},
        {"plan.round", Pipeline},
        {"plan.in_flight", Pipeline},
        {"plan.layers", Pipeline},
        {"plan.embedding_as_layer", Pipeline},
        {"plan.loss_as_layer", Pipeline},
        {"plan.microbatch", Microbatch},
        {"plan.prefetch", Microbatch},
        {"plan.bucket", Microbatch},
        {"plan.crossing", Placement},
        {"plan.dp", Kinds}, // follows from the other degrees
    };
    const auto found = known.find(key);
    return found != known.end() ? found->second : key.compare(0, 5, "plan.") == 0 ? Other : Network;
}

/// What a plan says of each kind.
using Features = std::array<std::string, Kinds>;

Features
FeaturesOf(const Plan& plan)
{
    Features features;
    for (const PlanField& field : PlanFields())
    {
        const Kind kind = KindOf(field.key);
        if (kind != Kinds)
        {
            features[kind] += field.get(plan) + "\n";
        }
    }
    return features;
}

/// Student's distribution with two degrees of freedom.
double
Student(double x)
{
    return 0.5 + x / (2 * std::sqrt(2 + x * x));
}

/// For every plan the number of what it says of a kind.
std::vector<size_t>
ValuesOf(const std::vector<Features>& plans, size_t kind)
{
    std::map<std::string, size_t> known;
    std::vector<size_t> values;
    for (const Features& features : plans)
    {
        values.push_back(known.emplace(features[kind], known.size()).first->second);
    }
    return values;
}

/// By kind: for every plan the number of what it says; for every such number its effect.
using ValuesByKind = std::array<std::vector<size_t>, Kinds>;
using EffectsByKind = std::array<std::vector<double>, Kinds>;

/// The first of the plans that take least with these effects on the logarithms of their times.
size_t
FastestWith(const EffectsByKind& effects,
            const ValuesByKind& values,
            const std::vector<double>& logarithms)
{
    size_t best = 0;
    double least = 0;
    for (size_t i = 0; i < logarithms.size(); i++)
    {
        double time = logarithms[i];
        for (size_t k = 0; k < Kinds; k++)
        {
            time += effects[k][values[k][i]];
        }
        if (i == 0 || time < least)
        {
            best = i;
            least = time;
        }
    }
    return best;
}

} // namespace

double
ProbabilityFaster(const TimedPlan& a, const TimedPlan& b)
{
    const Features ofA = FeaturesOf(a.plan);
    const Features ofB = FeaturesOf(b.plan);
    double square = 0;
    for (size_t k = 0; k < Kinds; k++)
    {
        square += ofA[k] == ofB[k] ? 0 : kScales[k] * kScales[k];
    }
    const double logarithm = std::log(b.time.S() / a.time.S());
    if (square == 0)
    {
        return logarithm > 0 ? 1 : logarithm < 0 ? 0 : 0.5;
    }
    return Student(logarithm / std::sqrt(square));
}

double
SureRatio()
{
    double square = 0;
    for (const double scale : kScales)
    {
        square += scale * scale;
    }
    // F(x) = kSure: x = q sqrt(2 / (1 - q^2)), q = 2 kSure - 1.
    const double q = 2 * kSure - 1;
    return std::exp(std::sqrt(square) * q * std::sqrt(2 / (1 - q * q)));
}

bool
AreToldApart(const TimedPlan& a, const TimedPlan& b)
{
    const double faster = ProbabilityFaster(a, b);
    return std::max(faster, 1 - faster) >= kSure;
}

std::string
ProbabilityText(double probability)
{
    const auto points = std::lround(100 * probability);
    return points > 99 ? "over 99 %" : points < 1 ? "under 1 %" : std::to_string(points) + " %";
}

std::vector<double>
ProbabilitiesBest(const std::vector<TimedPlan>& plans)
{
    constexpr uint32_t draws = 10000;
    // Of so many the last would have to be off by far more than any scale.
    constexpr size_t most = 1000;
    if (plans.size() > most)
    {
        const auto end = plans.begin() + most;
        auto probabilities = ProbabilitiesBest({plans.begin(), end});
        probabilities.resize(plans.size());
        return probabilities;
    }
    std::vector<Features> features;
    for (const TimedPlan& plan : plans)
    {
        features.push_back(FeaturesOf(plan.plan));
    }
    ValuesByKind values;
    EffectsByKind effects;
    for (size_t k = 0; k < Kinds; k++)
    {
        values[k] = ValuesOf(features, k);
        const auto last = std::max_element(values[k].begin(), values[k].end());
        effects[k].resize(last == values[k].end() ? 0 : *last + 1);
    }
    std::vector<double> logarithms;
    for (const TimedPlan& plan : plans)
    {
        logarithms.push_back(std::log(plan.time.S()));
    }
    boost::random::mt19937_64 bits;
    boost::random::normal_distribution<double> normal;
    boost::random::uniform_01<double> uniform;
    std::vector<uint32_t> wins(plans.size());
    for (uint32_t draw = 0; draw < draws && !plans.empty(); draw++)
    {
        // Normal effects over the root of a common chi-square of two degrees, by its degrees: -ln
        // of a uniform number. Two effects of half the square each differ by the scale.
        const double spread = std::sqrt(0.5 / -std::log1p(-uniform(bits)));
        for (size_t k = 0; k < Kinds; k++)
        {
            for (double& effect : effects[k])
            {
                effect = kScales[k] * spread * normal(bits);
            }
        }
        wins[FastestWith(effects, values, logarithms)]++;
    }
    std::vector<double> probabilities;
    for (const uint32_t count : wins)
    {
        probabilities.push_back(static_cast<double>(count) / draws);
    }
    return probabilities;
}

} // namespace scaleacross
