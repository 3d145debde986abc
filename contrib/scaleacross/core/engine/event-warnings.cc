// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/event-warnings.h"

#include <optional>

namespace scaleacross
{

namespace
{

/// When an event is over; none: never.
std::optional<Duration>
EndOf(const EventSpec& event)
{
    if (event.kind->change == EventChange::Flaps)
    {
        return event.at + event.period * (event.count - 1) + event.down;
    }
    return event.until > Duration() ? std::optional<Duration>(event.until) : std::nullopt;
}

} // namespace

std::vector<std::string>
WarningsOfEvents(const std::vector<EventSpec>& events, const RunReport& report)
{
    std::vector<std::string> warnings;
    for (size_t i = 0; report.measured && i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        const std::string place =
            PlaceOf(events, i) + " (" + event.kind.Name() + " of " + event.target + ")";
        const auto end = EndOf(event);
        if (end && *end <= report.measured->from)
        {
            warnings.push_back(place + " changes no time: it is over at " + ToString(*end) +
                               ", and the measured iterations begin at " +
                               ToString(report.measured->from) +
                               "; let it happen later, or say --warmup 0");
        }
        else if (event.at >= report.measured->until)
        {
            warnings.push_back(place + " changes no time: it begins at " + ToString(event.at) +
                               ", and the measured iterations end at " +
                               ToString(report.measured->until) +
                               "; let it happen earlier, or say more --iterations");
        }
    }
    return warnings;
}

} // namespace scaleacross
