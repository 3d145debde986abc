// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CALIBRATION_H
#define SCALEACROSS_CALIBRATION_H

#include "core/engine/corrections.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace scaleacross
{

/**
 * The time of a whole operation, given that of a part of its bytes: timeOf(1), or of two windows p
 * and p / 2, after which it is taken to go on as the second half of the larger did:
 *
 *     T(1) = T(p) + (1 - p) (T(p) - T(p / 2)) / (p / 2)
 *
 * Worked case: 1 ms before the first byte and 8 ms for all: p = 1/4 takes 3 ms, half of it 2 ms,
 * and T(1) = 3 + 3/4 x 1 / (1/8) = 9 ms.
 */
double WholeTime(double part, const std::function<double(double part)>& timeOf);

/// An operation whose factor can be measured.
struct CalibrationSubject
{
    double influence{0}; //!< seconds of an iteration: how often it is done, times what it takes
    double seconds{0};   //!< wall clock that a measurement is expected to take
};

/**
 * Which measurement is worth most next.
 *
 * Before any, the logarithm of an operation's factor is taken to be unsure by 0.1, what an
 * alpha-beta model misses packets by in the mean; after n by s / sqrt(n), where s is the standard
 * deviation between seeds. As few seeds say little of it, that is one of all operations and their
 * own, 2 degrees of freedom of the former beside n - 1 of the latter:
 *
 *     s^2 = (2 s0^2 + sum (x - mean)^2) / (2 + n - 1)
 *
 * s0^2 is the same of all operations' squares with 0.03^2 before any. The next measurement is of
 * what shrinks influence x uncertainty most. Once it is known how long measurements take, all that
 * have yet to come are expected to be longer or shorter by the same ratio.
 *
 * Worked case: operations of 4 s and 1 s. First the one of 4 s, 4 (0.1 - 0.03) against 1 (0.1 -
 * 0.03); then again, 4 (0.03 - 0.021) = 0.035 against 0.07: no, the one of 1 s; then that of 4 s.
 */
class Calibration
{
  public:
    Calibration(std::vector<CalibrationSubject> subjects, uint32_t mostSeeds);

    struct Trial
    {
        size_t subject;
        uint32_t seed; //!< 0, 1, ...: how many of the subject were begun before
    };

    /// What to measure next in so many seconds; nothing if nothing fits or all is measured. It
    /// counts as begun.
    std::optional<Trial> Next(double secondsLeft);

    /// A measurement has found a factor, in so many seconds.
    void Record(size_t subject, double factor, double seconds);

    /// Seconds that measurements have taken, over those expected; 1 before any.
    double Pace() const;

    /// A measurement has found nothing; the subject is not tried again.
    void GiveUp(size_t subject);

    /// Factors so far.
    const std::vector<double>& FactorsOf(size_t subject) const
    {
        return m_states[subject].factors;
    }

    /// Their geometric mean, and the interval that holds the true one with 90 %, by Student's t
    /// with s and its degrees of freedom. None without any.
    std::optional<Factor> Of(size_t subject) const;

  private:
    struct State
    {
        CalibrationSubject subject;
        std::vector<double> factors;
        uint32_t begun{0};
        bool givenUp{false};
    };

    /// s^2 of all operations.
    double CommonVariance() const;
    double DeviationOf(const State& state) const;
    double UnsureAfter(const State& state, uint32_t measurements) const;

    std::vector<State> m_states;
    uint32_t m_mostSeeds;
    double m_expected{0}; //!< seconds of what is measured
    double m_taken{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_CALIBRATION_H
