// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CALIBRATION_H
#define SCALEACROSS_CALIBRATION_H

#include "core/engine/corrections.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

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
 * deviation between seeds, or 0.03 as long as there is one only. The next measurement is of what
 * shrinks influence x uncertainty most. Once it is known how long measurements take, all that have
 * yet to come are expected to be longer or shorter by the same ratio.
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

    /// A measurement has found nothing; the subject is not tried again.
    void GiveUp(size_t subject);

    /// Factors so far.
    const std::vector<double>& FactorsOf(size_t subject) const
    {
        return m_states[subject].factors;
    }

    /// Their geometric mean, and the interval that holds the true one with 90 %, by Student's t of
    /// their logarithms; of one factor that itself. None without any.
    std::optional<Factor> Of(size_t subject) const;

  private:
    struct State
    {
        CalibrationSubject subject;
        std::vector<double> factors;
        uint32_t begun{0};
        bool givenUp{false};
    };

    static double UnsureAfter(const State& state, uint32_t measurements);

    std::vector<State> m_states;
    uint32_t m_mostSeeds;
    double m_expected{0}; //!< seconds of what is measured
    double m_taken{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_CALIBRATION_H
