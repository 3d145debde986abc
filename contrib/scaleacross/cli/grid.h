// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GRID_H
#define SCALEACROSS_GRID_H

#include "cli/command.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// The setting whose values are parts of the cluster.
constexpr const char* kPartsKey = "cluster.use";

/// A setting and the values that it takes.
struct SweepAxis
{
    std::string key;
    std::vector<std::string> values;
};

/// A combination of values with its study.
struct GridPoint
{
    std::vector<std::string> values; //!< of each axis
    CommonOptions common;
    Study study;
};

/// The axes of --sweep KEY=V1,V2,... Throws ConfigError for what is none, for a setting or a value
/// that is given twice, and for too many points.
std::vector<SweepAxis> AxesOf(const CommonOptions& common, const std::vector<std::string>& sweeps);

/**
 * All combinations of the values of axes, the last axis the fastest; without axes the study alone.
 * The study is read at every point, so that a wrong value is found before anything runs. Throws
 * ConfigError for that, where the study's search sets what is swept, and where two values give the
 * same study everywhere.
 *
 * @param sweeps what the axes were read from
 */
std::vector<GridPoint> GridOf(const CommonOptions& common,
                              const std::vector<std::string>& sweeps,
                              const std::vector<SweepAxis>& axes);

} // namespace scaleacross

#endif // SCALEACROSS_GRID_H
