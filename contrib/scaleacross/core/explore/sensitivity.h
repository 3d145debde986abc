// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SENSITIVITY_H
#define SCALEACROSS_SENSITIVITY_H

#include "core/explore/best-plan.h"
#include "core/explore/study-input.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A study with one input lowered or raised.
struct SensitivityEnd
{
    std::string value;   //!< of the input; "" where the field does not take it
    bool refused{false}; //!< the field, or the study as a whole, does not take the value
    std::string reason;  //!< why it is refused, or why no plan can run there; else ""
    /// The study's best plan, kept; none where it cannot run there.
    std::optional<Duration> kept;
    std::optional<Duration> best; //!< of a new search
    std::string label;            //!< the plan of the new search
    /// The new plan is faster than the kept one, or the kept one cannot run.
    bool changes{false};
    std::optional<Scenario> scenario; //!< with the new plan, where there is one

    /// The new best time over that of the study, less 1.
    std::optional<double> Change(Duration base) const;
};

/// One bar of the tornado.
struct Sensitivity
{
    std::string key;
    std::string value;
    SensitivityEnd low;
    SensitivityEnd high;

    /// The larger of both ends' changes of the best time, without sign; none where neither has one.
    std::optional<double> Effect(Duration base) const;
};

/// What an input at a value does to a study whose best plan is known.
class SensitivityProbe
{
  public:
    /// @param base the best plan of the study
    SensitivityProbe(const Study& study,
                     const Ranked& base,
                     const Engine& engine,
                     const SearchOptions& options);

    /// The input lowered to 1 - by and raised to 1 + by. Throws Interrupted once stopped.
    Sensitivity Of(const StudyInput& input, double by) const;

  private:
    SensitivityEnd At(const StudyInput& input, double factor) const;

    const Study& m_study;
    const Ranked& m_base;
    const Engine& m_engine;
    const SearchOptions& m_options;
};

/// By effect, the largest first. An end at which no plan can run is larger than any, one that is
/// refused is none. Equal ones keep their order.
void SortByEffect(std::vector<Sensitivity>& all, Duration base);

} // namespace scaleacross

#endif // SCALEACROSS_SENSITIVITY_H
