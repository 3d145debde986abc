// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-delay.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace scaleacross
{

namespace
{

/// Less than this part of a round trip is not worth another term.
constexpr double kNegligible = 1e-9;

/// P(X > j) of a Poisson variable.
double
PoissonBeyond(double mean, uint32_t j)
{
    if (j + 1 > mean)
    {
        // The tail itself, which may be tiny: every term is less than the one before.
        double term = std::exp((j + 1) * std::log(mean) - mean - std::lgamma(j + 2.0));
        double sum = 0;
        for (double k = j + 2; term > sum * 1e-15; k++)
        {
            sum += term;
            term *= mean / k;
        }
        return sum;
    }
    double sum = 0;
    for (uint32_t k = 0; k <= j; k++)
    {
        sum += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
    }
    return 1.0 - sum;
}

/// Packets of a queue pair whose loss can delay a message.
double
AtRisk(const LossyMessages& of)
{
    return std::min(of.packets, of.inFlight);
}

/// Packets of a message that a queue pair sends in so many seconds.
double
SentWithin(const LossyMessages& of, double seconds)
{
    return std::min(of.packets, of.inFlight * seconds / of.roundTrip);
}

/// Packets of a queue pair after which one more tells of a loss.
double
Told(const LossyMessages& of)
{
    return std::max(0.0, of.packets - of.silent);
}

double
SilentSeconds(const LossyMessages& of, double timeout)
{
    // The timer begins again with every ACK, and the last one comes a round trip later.
    return timeout + (of.packets > 1 ? of.roundTrip : 0.0);
}

/// -ln P(D <= y) of the messages of one kind in a round.
double
Hazard(const LossyChains& chains, const LossyMessages& of, double y)
{
    const double perPacket = -std::log1p(-of.loss);
    const double late = SilentSeconds(of, chains.timeout);
    double hazard = 0;
    if (y < of.roundTrip)
    {
        hazard = perPacket * std::min(Told(of), of.inFlight * (1.0 - y / of.roundTrip));
    }
    if (!chains.recovery->selective)
    {
        const auto stalls = std::max(1U, static_cast<uint32_t>(y / of.roundTrip));
        const double beyond = PoissonBeyond(AtRisk(of) * of.loss, stalls);
        hazard = std::max(hazard, -std::log1p(-beyond));
    }
    hazard -= y < late ? SentWithin(of, late - y) * std::log1p(-of.loss * of.loss) : 0.0;
    const double silent = perPacket * std::min(of.packets, of.silent);
    hazard += y < std::min(late, of.untold + of.roundTrip) ? silent : 0.0;
    hazard *= of.pairs;
    if (y < late)
    {
        const double all = std::pow(-std::expm1(-silent * of.pairs), of.circle);
        hazard -= std::log1p(-all) / of.circle;
    }
    return of.count * hazard;
}

/// P(X = k) of a whole number, for k from `first` on; elsewhere it is negligible.
struct Mass
{
    double first{0};
    std::vector<double> of{1.0};
};

/// Binomial, of `draws` with probability 1 - exp(-hazard): from its mode, where it is at most 1, to
/// both sides as far as it counts.
Mass
Binomial(double draws, double hazard)
{
    constexpr double least = 1e-20;
    constexpr double certain = 50; // exp(-50): none of millions is kept
    if (draws == 0 || hazard <= 0)
    {
        return {};
    }
    if (hazard > certain)
    {
        return {draws, {1.0}};
    }
    const double odds = std::expm1(hazard); // of delayed to kept
    const double mode = std::min(draws, std::floor((draws + 1) * -std::expm1(-hazard)));
    const double top =
        std::exp(std::lgamma(draws + 1) - std::lgamma(mode + 1) - std::lgamma(draws - mode + 1) +
                 mode * std::log(odds) - draws * hazard);
    std::vector<double> below;
    for (double k = mode, mass = top; k > 0 && mass > least; k--)
    {
        mass *= k / ((draws - k + 1) * odds);
        below.push_back(mass);
    }
    Mass all;
    all.first = mode - static_cast<double>(below.size());
    all.of.assign(below.rbegin(), below.rend());
    all.of.push_back(top);
    for (double k = mode, mass = top; k < draws && mass > least; k++)
    {
        mass *= (draws - k) / (k + 1) * odds;
        all.of.push_back(mass);
    }
    return all;
}

/// Of the sum of two independent numbers.
Mass
SumOf(const Mass& a, const Mass& b)
{
    Mass sum;
    sum.first = a.first + b.first;
    sum.of.assign(a.of.size() + b.of.size() - 1, 0.0);
    for (size_t i = 0; i < a.of.size(); i++)
    {
        for (size_t j = 0; j < b.of.size(); j++)
        {
            sum.of[i + j] += a.of[i] * b.of[j];
        }
    }
    return sum;
}

/// E[most of the rounds of a chain that are delayed by more than y].
double
MostDelayed(const LossyChains& chains, double y)
{
    Mass mass; // by rounds delayed
    double rounds = 0;
    for (const LossyRounds& lossy : chains.rounds)
    {
        rounds += lossy.rounds;
        const double whole = std::ceil(lossy.rounds);
        double hazard = 0;
        for (const LossyMessages& of : lossy.messages)
        {
            hazard += Hazard(chains, of, y) * lossy.rounds / whole;
        }
        mass = SumOf(mass, Binomial(whole, hazard));
    }
    // No chain has fewer than the first; P(some chain has k or more) for each of the others.
    double most = std::min(mass.first, std::ceil(rounds));
    double beyond = 0;
    for (size_t i = mass.of.size(); i-- > 0;)
    {
        const double k = mass.first + static_cast<double>(i);
        beyond = std::min(1.0, beyond + mass.of[i]);
        // Unlike edges of a ring may be passed by some of the chains only: no chain has more rounds
        // than that in all.
        most -= k > mass.first && k < rounds + 1.0 ? std::expm1(chains.chains * std::log1p(-beyond))
                                                   : 0.0;
    }
    return most;
}

/// Delays at which the distribution of one has a bend or a step, in order.
std::vector<double>
Bends(const LossyChains& chains)
{
    std::vector<double> bends{0.0};
    for (const LossyRounds& lossy : chains.rounds)
    {
        for (const LossyMessages& of : lossy.messages)
        {
            const double late = SilentSeconds(of, chains.timeout);
            bends.push_back(of.roundTrip * std::max(0.0, 1.0 - Told(of) / of.inFlight));
            bends.push_back(of.roundTrip);
            bends.push_back(late);
            bends.push_back(std::max(0.0, late - of.roundTrip * of.packets / of.inFlight));
            bends.push_back(std::min(late, of.untold + of.roundTrip));
            const double messages = chains.chains * lossy.rounds * of.count * of.pairs;
            const double mean = AtRisk(of) * of.loss;
            for (uint32_t j = 1;
                 !chains.recovery->selective && messages * PoissonBeyond(mean, j) > kNegligible;
                 j++)
            {
                bends.push_back(of.roundTrip * (j + 1));
            }
        }
    }
    std::sort(bends.begin(), bends.end());
    return bends;
}

/// Integral over y from `begin` to `end`, between which nothing bends.
double
Integral(const LossyChains& chains, double begin, double end)
{
    // Gauss and Legendre's points and weights for [0, 1].
    static constexpr std::array<std::array<double, 2>, 8> points{
        {{0.0198550717512319, 0.0506142681451882},
         {0.1016667612931866, 0.1111905172266872},
         {0.2372337950418355, 0.1568533229389437},
         {0.4082826787521751, 0.1813418916891810},
         {0.5917173212478249, 0.1813418916891810},
         {0.7627662049581645, 0.1568533229389437},
         {0.8983332387068134, 0.1111905172266872},
         {0.9801449282487682, 0.0506142681451882}}};
    // It falls steeply towards the end where packets are many: y = end - (end - begin) x^3.
    double sum = 0;
    for (const auto& [x, weight] : points)
    {
        sum += weight * 3.0 * x * x * MostDelayed(chains, end - (end - begin) * x * x * x);
    }
    return sum * (end - begin);
}

} // namespace

void
LossyChains::Append(const LossyChains& next)
{
    steps += next.steps;
    rounds.insert(rounds.end(), next.rounds.begin(), next.rounds.end());
}

void
LossyChains::Repeat(uint32_t chunks, uint32_t channels)
{
    const double together = std::min(chunks, channels);
    chains *= together;
    steps *= chunks / together;
    for (LossyRounds& lossy : rounds)
    {
        lossy.rounds *= chunks / together;
        for (LossyMessages& of : lossy.messages)
        {
            of.inFlight /= together;
        }
    }
}

double
LossVolume(const LossyMessages& messages, Recovery recovery)
{
    const double q = messages.loss;
    const double m = messages.packets;
    const double n = messages.inFlight;
    const double vain = m <= n ? m / 2.0 : n - n * n / (2.0 * m);
    const double again = recovery->selective ? 1.0 : std::max(1.0, vain);
    return (1.0 - q + q * again) / (1.0 - q);
}

double
LossDelay(const LossyChains& chains)
{
    const std::vector<double> bends = Bends(chains);
    double delay = 0;
    for (size_t i = 0; i + 1 < bends.size(); i++)
    {
        if (bends[i + 1] > bends[i])
        {
            delay += Integral(chains, bends[i], bends[i + 1]);
        }
    }
    return delay;
}

} // namespace scaleacross
