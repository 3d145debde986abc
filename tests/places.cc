// SPDX-License-Identifier: GPL-2.0-only

#include "places.h"

namespace scaleacross
{

std::string
SourcePath(const std::string& below)
{
    const std::string checkout = SCALEACROSS_SOURCE_DIR;
    return below.empty() ? checkout : checkout + "/" + below;
}

std::string
ProgramPath()
{
    return SCALEACROSS_PROGRAM;
}

} // namespace scaleacross
