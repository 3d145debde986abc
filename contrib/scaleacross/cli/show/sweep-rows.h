// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_ROWS_H
#define SCALEACROSS_SWEEP_ROWS_H

#include "cli/show/report-json.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// The values of a point of a sweep by their keys, in the order of the axes.
using SweptValues = std::vector<std::pair<std::string, std::string>>;

/**
 * The points of a sweep as rows of a table (CsvOfRows()), each flat.
 *
 * First come the values, each in a column with the name of its key, then the placement that wins
 * with its margin, the time of the best plan of each placement, and what the best plan is and
 * takes. Behind these are its classes, the plans of the placements, the baselines, and what the
 * search has looked at, by their ways in the JSON.
 *
 * Left out is what is a table of its own (links, memory by stage, the ranking, sentences), what is
 * empty in all rows, and, behind the best plan's figures, what is the same in all of several rows,
 * warnings aside: a setting of the plan stands there if it changes.
 *
 * @param points array of the PointJson() of each
 * @param values of each
 */
Json SweepRows(const Json& points, const std::vector<SweptValues>& values);

/// What the points warn of, each warning once, in their order: for people.
std::vector<std::string> WarningsOfPoints(const Json& points);

} // namespace scaleacross

#endif // SCALEACROSS_SWEEP_ROWS_H
