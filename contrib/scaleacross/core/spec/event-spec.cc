// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/event-spec.h"

#include "core/base/errors.h"
#include "core/base/text.h"

namespace scaleacross
{

const std::vector<std::string>&
EventKindNames()
{
    static const std::vector<std::string> names = {"link-failure",
                                                   "switch-failure",
                                                   "plane-failure",
                                                   "degradation",
                                                   "flap"};
    return names;
}

std::string
ToString(EventKind kind)
{
    return EventKindNames().at(static_cast<size_t>(kind));
}

bool
EventSpec::IsConstant() const
{
    return kind != EventKind::Flap && at == Duration() && until == Duration();
}

void
EventSpec::Validate(const std::string& path) const
{
    const auto need = [&](bool fine, const std::string& field, const std::string& problem) {
        if (!fine)
        {
            throw ConfigError(path + "." + field,
                              problem,
                              field == "factor" ? "above 0 and below 1" : "",
                              "");
        }
    };
    need(at >= Duration(), "at", ToString(at) + " is before the beginning");
    need(at <= kLatestEvent, "at", ToString(at) + " is later than " + ToString(kLatestEvent));
    if (kind == EventKind::Flap)
    {
        need(at > Duration(), "at", "a flap begins after the beginning");
        need(down > Duration(), "down", ToString(down) + " is no time");
        need(period > down,
             "period",
             ToString(period) + " is not longer than the time down, " + ToString(down));
        need(count > 0, "count", "0 failures");
        need(down <= kLatestEvent - at,
             "down",
             "the end, after " + ToString(down) + ", is later than " + ToString(kLatestEvent));
        need(count == 1 || period <= (kLatestEvent - at - down) / (count - 1),
             "period",
             "the last of " + std::to_string(count) + " failures, " + ToString(period) +
                 " apart, ends later than " + ToString(kLatestEvent));
        need(until == Duration(), "until", "a flap ends after its count");
        return;
    }
    need(until == Duration() || until > at,
         "until",
         ToString(until) + " is not after the beginning, " + ToString(at));
    need(until <= kLatestEvent,
         "until",
         ToString(until) + " is later than " + ToString(kLatestEvent));
    if (kind == EventKind::Degradation)
    {
        need(factor > 0 && factor < 1, "factor", NumberText(factor) + " is out of range");
    }
}

} // namespace scaleacross
