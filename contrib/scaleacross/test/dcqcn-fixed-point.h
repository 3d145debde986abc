// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DCQCN_FIXED_POINT_H
#define SCALEACROSS_DCQCN_FIXED_POINT_H

#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>

namespace fabrictest
{

/// Parameters of DCQCN with N senders of equal rate; packets and seconds.
struct DcqcnModel
{
    double rate;          //!< R = C / N, packets/s
    double cnpInterval;   //!< tau
    double alphaTimer;    //!< tau'
    double increaseTimer; //!< T
    double byteCounter;   //!< B, packets
    double fastRecovery;  //!< F
    double additive;      //!< R_AI, packets/s
};

/// The p in (0, 1/2) at which f changes its sign.
template <class Function>
double
MarkingRoot(Function f)
{
    boost::math::tools::eps_tolerance<double> tolerance(40);
    std::uintmax_t iterations = 200;
    auto [low, high] = boost::math::tools::toms748_solve(f, 1e-6, 0.5, tolerance, iterations);
    return (low + high) / 2;
}

/**
 * The published fixed point: Zhu, Ghobadi, Misra, Padhye, "ECN or Delay: Lessons Learnt from
 * Analysis of DCQCN and TIMELY", CoNEXT 2016. Setting the derivatives of the fluid model of the
 * SIGCOMM paper to 0 leaves one equation for the marking probability p,
 *
 *   a^2 alpha / ((b + c) (d + e)) = tau^2 R_AI R,      alpha = 1 - (1 - p)^(tau' R),
 *   a = 1 - (1 - p)^(tau R),
 *   b = p / ((1 - p)^-B - 1),        c = p / ((1 - p)^(-T R) - 1),
 *   d = (1 - p)^(F B) b,             e = (1 - p)^(F T R) c,
 *
 * which has one root, as the left side grows with p; the queue is then where RED marks with p.
 */
inline double
PublishedMarking(const DcqcnModel& m)
{
    return MarkingRoot([&m](double p) {
        const double log = std::log1p(-p);
        const double a = -std::expm1(log * m.cnpInterval * m.rate);
        const double alpha = -std::expm1(log * m.alphaTimer * m.rate);
        const double b = p / std::expm1(-log * m.byteCounter);
        const double c = p / std::expm1(-log * m.increaseTimer * m.rate);
        const double d = std::exp(log * m.fastRecovery * m.byteCounter) * b;
        const double e = std::exp(log * m.fastRecovery * m.increaseTimer * m.rate) * c;
        return a * a * alpha -
               m.cnpInterval * m.cnpInterval * m.additive * m.rate * (b + c) * (d + e);
    });
}

/**
 * The same without the fluid model's approximations in time: the protocol as a renewal process.
 *
 * With marks of probability p on packets of rate R, CNPs are X = tau + Exp(h) apart, h = -R ln(1 -
 * p): for tau after a CNP marks count for nothing. S(t) = P(X > t).
 *
 * alpha gains g (1 - alpha) at a CNP and loses g alpha at each of the n = sum over k of S(k tau')
 * decays between two: alpha = 1 / (1 + n).
 *
 * A cut makes the target the current rate, and the distance D of both alpha R / 2. Each timer
 * halves D; after the F-th the target also grows by R_AI, and D by R_AI / 2. The next cut takes D
 * off the target. At the fixed point the gains are the losses: R_AI times the expected number of
 * increases in X equals the expected D at its end. The byte counter, which hardly ever comes first
 * where p B is large, is left out.
 *
 * The fluid model has marks count at any time, also right after a cut, while D is largest; with tau
 * near T it therefore overrates losses by up to 2, and p is lower by a fifth.
 */
inline double
RenewalMarking(const DcqcnModel& m)
{
    return MarkingRoot([&m](double p) {
        const double hazard = -std::log1p(-p) * m.rate;
        auto survives = [&](double t) {
            return t <= m.cnpInterval ? 1.0 : std::exp(-hazard * (t - m.cnpInterval));
        };
        double decays = 0;
        for (double k = 1; survives(k * m.alphaTimer) > 1e-12; ++k)
        {
            decays += survives(k * m.alphaTimer);
        }
        double distance = m.rate / 2 / (1 + decays);
        double loss = 0;
        double gain = 0;
        for (double k = 0; survives(k * m.increaseTimer) > 1e-12; ++k)
        {
            loss +=
                distance * (survives(k * m.increaseTimer) - survives((k + 1) * m.increaseTimer));
            const bool increase = k + 1 > m.fastRecovery;
            gain += increase ? m.additive * survives((k + 1) * m.increaseTimer) : 0;
            distance = (distance + (increase ? m.additive : 0)) / 2;
        }
        return loss - gain;
    });
}

} // namespace fabrictest

#endif // SCALEACROSS_DCQCN_FIXED_POINT_H
