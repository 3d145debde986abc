// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/calibration.h"

#include "core/base/errors.h"

#include <algorithm>
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

constexpr double kFreedom = 2; // degrees, of what is known before

struct Moments
{
    double mean{0};
    double squares{0}; //!< sum of (x - mean)^2
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
        moments.squares += std::pow(std::log(factor) - moments.mean, 2);
    }
    return moments;
}

} // namespace

double
WholeTime(double part, const std::function<double(double part)>& timeOf)
{
    const double time = timeOf(part);
    return part < 1 ? time + (1 - part) * (time - timeOf(part / 2)) / (part / 2) : time;
}

Calibration::Calibration(std::vector<CalibrationSubject> subjects, uint32_t mostSeeds)
    : m_mostSeeds(mostSeeds)
{
    for (const CalibrationSubject& subject : subjects)
    {
        m_states.push_back({subject, {}, 0, false});
    }
}

double
Calibration::CommonVariance() const
{
    double squares = kFreedom * kSeedSpread * kSeedSpread;
    double freedom = kFreedom;
    for (const State& state : m_states)
    {
        if (state.factors.size() > 1)
        {
            squares += LogMomentsOf(state.factors).squares;
            freedom += static_cast<double>(state.factors.size()) - 1;
        }
    }
    return squares / freedom;
}

/// Domain: it has a factor, or none yet.
double
Calibration::DeviationOf(const State& state) const
{
    const double own = std::max(1.0, static_cast<double>(state.factors.size())) - 1;
    return std::sqrt((kFreedom * CommonVariance() + LogMomentsOf(state.factors).squares) /
                     (kFreedom + own));
}

double
Calibration::UnsureAfter(const State& state, uint32_t measurements) const
{
    if (measurements == 0)
    {
        return kModelError;
    }
    return DeviationOf(state) / std::sqrt(measurements);
}

std::optional<Calibration::Trial>
Calibration::Next(double secondsLeft)
{
    const double pace = Pace();
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

double
Calibration::Pace() const
{
    return m_expected > 0 ? m_taken / m_expected : 1.0;
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
    const auto n = static_cast<double>(factors.size());
    const boost::math::students_t_distribution<double> student(kFreedom + n - 1);
    const double half = boost::math::quantile(student, (1 + kConfidence) / 2) *
                        DeviationOf(m_states[subject]) / std::sqrt(n);
    return Factor{std::exp(moments.mean),
                  std::exp(moments.mean - half),
                  std::exp(moments.mean + half)};
}

} // namespace scaleacross
