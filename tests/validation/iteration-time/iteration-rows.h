// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ITERATION_ROWS_H
#define SCALEACROSS_ITERATION_ROWS_H

#include "core/spec/scenario.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A published iteration and the scenario it was measured in.
struct IterationRow
{
    std::string set;    //!< the source
    std::string name;   //!< of the row in it
    bool fitted{false}; //!< a curve or a stack was fitted on it
    double seconds{0};  //!< published, or from published throughput
    Scenario scenario;
};

/// Reads a file of this folder (its columns are named in its first line). Buildings have as many
/// servers as the row needs, of the GPU with the NIC given, under one set of rails.
std::vector<IterationRow> ReadIterationRows(const std::string& file);

/// Seconds of an iteration by the analytical engine. Throws RunError if the plan does not run.
double IterationSeconds(const IterationRow& row);

} // namespace scaleacross

#endif // SCALEACROSS_ITERATION_ROWS_H
