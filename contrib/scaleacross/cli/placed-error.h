// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLACED_ERROR_H
#define SCALEACROSS_PLACED_ERROR_H

#include "core/base/errors.h"
#include "core/io/read-study.h"

namespace scaleacross
{

/// Returns what `run` does, which runs an engine on a study. Throws what the engine says of it with
/// the place in its file (PlacedInStudy).
template <class Run>
auto
WithPlaces(const Study& study, Run run)
{
    try
    {
        return run();
    }
    catch (const ConfigError& error)
    {
        throw PlacedInStudy(error, study);
    }
}

} // namespace scaleacross

#endif // SCALEACROSS_PLACED_ERROR_H
