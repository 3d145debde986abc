// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARSE_AT_H
#define SCALEACROSS_PARSE_AT_H

#include "core/base/errors.h"
#include "core/base/text.h"

#include <string>

namespace scaleacross
{

/// parse(), whose ValueError becomes a ConfigError at `where`, the key or option of the text.
template <class Parse>
auto
ParseAt(const std::string& where, Parse parse)
{
    try
    {
        return parse();
    }
    catch (const ValueError& error)
    {
        throw ConfigError(where, error.Problem(), error.Allowed(), error.Remedy());
    }
}

} // namespace scaleacross

#endif // SCALEACROSS_PARSE_AT_H
