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
    if (kind == EventKind::Flap)
    {
        need(at > Duration(), "at", "a flap begins after the beginning");
        need(down > Duration(), "down", ToString(down) + " is no time");
        need(period > down,
             "period",
             ToString(period) + " is not longer than the time down, " + ToString(down));
        need(count > 0, "count", "0 failures");
        need(until == Duration(), "until", "a flap ends after its count");
        return;
    }
    need(until == Duration() || until > at,
         "until",
         ToString(until) + " is not after the beginning, " + ToString(at));
    if (kind == EventKind::Degradation)
    {
        need(factor > 0 && factor < 1, "factor", NumberText(factor) + " is out of range");
    }
}

} // namespace scaleacross
