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
    if (chains.recovery == Recovery::GoBackN)
    {
        const auto stalls = std::max(1U, static_cast<uint32_t>(y / of.roundTrip));
        const double beyond = PoissonBeyond(AtRisk(of) * of.loss, stalls);
        hazard = std::max(hazard, -std::log1p(-beyond));
    }
    hazard -= y < late ? AtRisk(of) * std::log1p(-of.loss * of.loss) : 0.0;
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

/// E[most of the rounds of a chain that are delayed by more than y].
double
MostDelayed(const LossyChains& chains, double y)
{
    std::vector<double> mass{1.0}; // by rounds delayed
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
        const double kept = std::exp(-hazard);
        const double delayed = -std::expm1(-hazard);
        for (double round = 0; round < whole; round++)
        {
            mass.push_back(0.0);
            for (size_t k = mass.size() - 1; k > 0; k--)
            {
                mass[k] = mass[k] * kept + mass[k - 1] * delayed;
            }
            mass[0] *= kept;
        }
    }
    double most = 0;
    double beyond = 0;
    for (size_t k = mass.size() - 1; k > 0; k--)
    {
        beyond = std::min(1.0, beyond + mass[k]);
        // Unlike edges of a ring may be passed by some of the chains only: no chain has more rounds
        // than that in all.
        most -= static_cast<double>(k) < rounds + 1.0
                    ? std::expm1(chains.chains * std::log1p(-beyond))
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
            bends.push_back(std::min(late, of.untold + of.roundTrip));
            const double messages = chains.chains * lossy.rounds * of.count * of.pairs;
            const double mean = AtRisk(of) * of.loss;
            for (uint32_t j = 1; chains.recovery == Recovery::GoBackN &&
                                 messages * PoissonBeyond(mean, j) > kNegligible;
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

double
LossVolume(const LossyMessages& messages, Recovery recovery)
{
    const double q = messages.loss;
    const double m = messages.packets;
    const double n = messages.inFlight;
    const double vain = m <= n ? m / 2.0 : n - n * n / (2.0 * m);
    const double again = recovery == Recovery::SelectiveRepeat ? 1.0 : std::max(1.0, vain);
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
