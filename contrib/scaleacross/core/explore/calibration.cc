// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/calibration.h"

#include "core/base/errors.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr double kModelError = 0.1;
constexpr double kSeedSpread = 0.03;
constexpr double kConfidence = 0.9;

struct Moments
{
    double mean{0};
    double deviation{0}; //!< of a sample; 0 of one
};

Moments
LogMomentsOf(const std::vector<double>& factors)
{
    Moments moments;
    const auto n = static_cast<double>(factors.size());
    for (const double factor : factors)
    {
        moments.mean += std::log(factor) / n;
    }
    for (const double factor : factors)
    {
        moments.deviation += std::pow(std::log(factor) - moments.mean, 2);
    }
    moments.deviation = n > 1 ? std::sqrt(moments.deviation / (n - 1)) : 0.0;
    return moments;
}

} // namespace

Calibration::Calibration(std::vector<CalibrationSubject> subjects, uint32_t mostSeeds)
    : m_mostSeeds(mostSeeds)
{
    for (const CalibrationSubject& subject : subjects)
    {
        m_states.push_back({subject, {}, 0, false});
    }
}

double
Calibration::UnsureAfter(const State& state, uint32_t measurements)
{
    if (measurements == 0)
    {
        return kModelError;
    }
    const double spread =
        state.factors.size() > 1 ? LogMomentsOf(state.factors).deviation : kSeedSpread;
    return spread / std::sqrt(measurements);
}

std::optional<Calibration::Trial>
Calibration::Next(double secondsLeft)
{
    const double pace = m_expected > 0 ? m_taken / m_expected : 1.0;
    std::optional<size_t> best;
    double most = 0;
    for (size_t i = 0; i < m_states.size(); i++)
    {
        const State& state = m_states[i];
        if (state.givenUp || state.begun >= m_mostSeeds ||
            state.subject.seconds * pace > secondsLeft)
        {
            continue;
        }
        const double gain = state.subject.influence *
                            (UnsureAfter(state, state.begun) - UnsureAfter(state, state.begun + 1));
        if (gain > most)
        {
            most = gain;
            best = i;
        }
    }
    if (!best)
    {
        return std::nullopt;
    }
    return Trial{*best, m_states[*best].begun++};
}

void
Calibration::Record(size_t subject, double factor, double seconds)
{
    SCALEACROSS_INVARIANT(factor > 0, "a factor that is none");
    m_states[subject].factors.push_back(factor);
    m_expected += m_states[subject].subject.seconds;
    m_taken += seconds;
}

void
Calibration::GiveUp(size_t subject)
{
    m_states[subject].givenUp = true;
}

std::optional<Factor>
Calibration::Of(size_t subject) const
{
    const std::vector<double>& factors = m_states[subject].factors;
    if (factors.empty())
    {
        return std::nullopt;
    }
    const Moments moments = LogMomentsOf(factors);
    double half = 0;
    if (factors.size() > 1)
    {
        const auto n = static_cast<double>(factors.size());
        const boost::math::students_t_distribution<double> student(n - 1);
        half = boost::math::quantile(student, (1 + kConfidence) / 2) * moments.deviation /
               std::sqrt(n);
    }
    return Factor{std::exp(moments.mean),
                  std::exp(moments.mean - half),
                  std::exp(moments.mean + half)};
}

} // namespace scaleacross
