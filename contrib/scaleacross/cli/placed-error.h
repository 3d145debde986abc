// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLACED_ERROR_H
#define SCALEACROSS_PLACED_ERROR_H

#include "cli/command.h"
#include "core/base/errors.h"
#include "core/io/read-study.h"

namespace scaleacross
{

/// Returns what `run` does, which runs an engine on the study that StudyOf() has read. Throws what
/// the engine says of the study with the place in its file (PlacedInStudy).
template <class Run>
auto
WithPlaces(const CommonOptions& options, Run run)
{
    try
    {
        return run();
    }
    catch (const ConfigError& error)
    {
        if (!options.kept.db.empty() || options.study.empty())
        {
            throw; // it was read from no file
        }
        throw PlacedInStudy(error, options.study, OverridesOf(options));
    }
}

} // namespace scaleacross

#endif // SCALEACROSS_PLACED_ERROR_H
