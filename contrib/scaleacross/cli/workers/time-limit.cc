// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/time-limit.h"

#include "cli/command.h"
#include "cli/output-file.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"

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
    const bool hasUnit = text.find_first_not_of("0123456789.") != std::string::npos;
    const Duration limit = ParseAt(option, [&] {
        try
        {
            return ParseDuration(text);
        }
        catch (const ValueError& error)
        {
            // The usual example of a duration is in microseconds, which nobody means here.
            throw ValueError(error.Problem(),
                             "a time above 0, a number with a unit such as 20s (units: ps, ns, us, "
                             "ms, s, min or h)",
                             hasUnit ? error.Remedy() : "add the unit, as in 20s");
        }
    });
    if (limit == Duration())
    {
        throw ConfigError(option, "nothing is done in no time", "a time above 0, such as 20s", "");
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
