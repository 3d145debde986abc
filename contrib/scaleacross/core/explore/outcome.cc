// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/outcome.h"

namespace scaleacross
{

Infeasible
RefusalOf(const ConfigError& error)
{
    std::string detail = error.what();
    for (size_t at = detail.find("\n  "); at != std::string::npos; at = detail.find("\n  "))
    {
        detail.replace(at, 3, "; ");
    }
    return {kUnsupported, detail};
}

} // namespace scaleacross
