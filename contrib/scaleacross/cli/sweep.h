// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_H
#define SCALEACROSS_SWEEP_H

#include "cli/explore-study.h"
#include "cli/grid.h"
#include "core/explore/flip.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Explores a study at every combination of the values of options.sweeps and prints what wins
/// where: of one setting as a table, of several as a grid.
Exit Sweep(const ExploreOptions& options);

/// What stands in the place of a placement where the best plan sends nothing between buildings.
constexpr const char* kNothingCrosses = "nothing crosses";

/// What the answer at one point says of the crossings. `value`: of the setting that points are put
/// side by side by.
SweepPoint PointOf(const std::string& value, const Answer& answer, bool measured);

/// An answer with its winner, `winner`, `margin` and `probability`.
Json PointJson(const SweepPoint& point,
               const Study& study,
               const SearchSpace& space,
               const Answer& answer);

/// Where the placement flips between points along a setting; nowhere along cluster.use, whose parts
/// have no order.
std::vector<Flip> FlipsAlong(const std::string& key, const std::vector<SweepPoint>& points);

/// Whether points say anything of flips: two of them have a winner.
bool AreCompared(const std::vector<SweepPoint>& points);

/// What heads a sweep: its study, what all points have set of it, what is swept, and which points
/// are the study itself.
std::string SweepTitle(const std::vector<SweepAxis>& axes, const std::vector<GridPoint>& points);

/// The same, as members of the JSON: `study`, `settings` and, at values of the axes or null,
/// `as_written`.
Json SweepTitleJson(const std::vector<SweepAxis>& axes, const std::vector<GridPoint>& points);

/// "So far: 3 of 12 points." of a sweep that was interrupted; "" of one that is done.
std::string DoneText(size_t done, size_t points);

std::string FlipText(const std::string& key, const Flip& flip);
Json FlipJson(const Flip& flip);

} // namespace scaleacross

#endif // SCALEACROSS_SWEEP_H
