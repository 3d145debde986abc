// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/time-limit.h"

#include "cli/command.h"
#include "cli/output-file.h"
#include "core/base/parse-at.h"

#include <cstdlib>
#include <exception>

namespace scaleacross
{

Duration
TimeLimitOf(const std::string& text, const std::string& option)
{
    if (text.empty())
    {
        return Duration::Max();
    }
    const Duration limit = ParseAt(option, [&] { return ParseDuration(text); });
    if (limit == Duration())
    {
        throw ConfigError(option, "nothing is done in no time", "a time above 0", "");
    }
    return limit;
}

std::string
NotDoneAfter(Duration limit)
{
    return "time limit: not done after " + ToString(limit) +
           " of wall clock time, preparation included";
}

void
EndAbandoned(const std::function<void()>& last)
{
    try
    {
        last();
        FlushOutput();
    }
    catch (const std::exception& error)
    {
        PrintError(error.what());
    }
    // Not exit(): what it destroys, the thread may be using.
    std::_Exit(static_cast<int>(Exit::Failed));
}

} // namespace scaleacross
