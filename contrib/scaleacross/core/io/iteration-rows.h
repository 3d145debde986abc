// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ITERATION_ROWS_H
#define SCALEACROSS_ITERATION_ROWS_H

#include "core/io/read-study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A measured iteration and the study it was measured in.
struct IterationRow
{
    std::string set;    //!< name of the file, without folder and ending
    std::string name;   //!< of the row in it
    bool fitted{false}; //!< a curve or a stack was fitted on it, or is to be
    Duration measured;  //!< time of an iteration
    Study study;
};

/**
 * Reads measured iterations from a CSV file (ReadCsvTable) with the columns:
 *
 * - `name` of the row, `seconds` that its iteration takes;
 * - `fitted`: `yes` or `no` (the same as nothing, and as no such column);
 * - `study`: the study file that the row stands on, by its path from the CSV file;
 * - any key of that study, such as `plan.tp` or `cluster.buildings.0.gpus`: what the row sets in
 *   it. An empty cell sets nothing.
 *
 * `overrides` are set in every row, after its own.
 *
 * Throws ConfigError (where = "rows.csv:7 plan.tp") for what is wrong with the file or the study
 * that a row makes.
 */
std::vector<IterationRow> ReadIterationRows(const std::string& path,
                                            const Overrides& overrides = {});

} // namespace scaleacross

#endif // SCALEACROSS_ITERATION_ROWS_H
