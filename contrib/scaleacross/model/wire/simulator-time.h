// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SIMULATOR_TIME_H
#define SCALEACROSS_SIMULATOR_TIME_H

#include <cstdint>

namespace scaleacross
{

/// The Simulator's time in ps, whatever its resolution.
int64_t SimulatorPicoseconds();

/// Picoseconds of the Simulator's resolution. Throws ConfigError if it is finer than a picosecond.
int64_t PicosecondsPerTick();

} // namespace scaleacross

#endif // SCALEACROSS_SIMULATOR_TIME_H
