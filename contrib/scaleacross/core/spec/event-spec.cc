// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/event-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/text.h"
#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const EventFacts*>&
EventKind::Rows()
{
    using T = TargetKind;
    const std::set<T> links = {T::Link, T::Span, T::Lanes};
    const std::set<T> any = {T::Link, T::Span, T::Lanes, T::Switch, T::Plane};
    static const auto rows = PointersTo<EventFacts>(
        {{{"link-failure", "a link is down, or links of a span", true}, EventChange::Fails, links},
         {{"switch-failure", "all links of a switch are down, and what it holds is lost"},
          EventChange::Fails,
          {T::Switch}},
         {{"plane-failure", "the same of one plane's switch at every site"},
          EventChange::Fails,
          {T::Plane}},
         {{"degradation", "links have a part of their rate"}, EventChange::Slows, any},
         {{"flap", "links go down and come back, again and again"}, EventChange::Flaps, any},
         {{"foreign-traffic", "packets of others pass a span, both ways"},
          EventChange::Shares,
          {T::Span}}});
    return rows;
}

template class Word<EventFacts>;

namespace
{

using Row = FieldRows<EventSpec>;

/// A time up to kLatestEvent: `told` is what messages say of its other end, which hangs on the rest
/// of an event and is for Validate() and for who reads it to check.
Field<EventSpec>
Time(const std::string& key,
     const std::string& told,
     const std::string& help,
     Duration EventSpec::*member)
{
    const std::string allowed = told + ", up to " + ExactText(kLatestEvent);
    return Row::Make(
        key,
        allowed,
        help,
        member,
        [allowed](const std::string& text) {
            const auto time = Parse<Duration>(text);
            if (time < Duration() || time > kLatestEvent)
            {
                throw ValueError(Quoted(text) + " is out of range", allowed, "");
            }
            return time;
        },
        [](Duration time) { return ExactText(time); });
}

} // namespace

const FieldTable<EventSpec>&
EventSpec::Fields()
{
    using E = EventSpec;
    const auto ofFlap = [](const E& event) { return event.kind->change == EventChange::Flaps; };
    const auto notOfFlap = [ofFlap](const E& event) { return !ofFlap(event); };
    const auto lanes = [](const E& event) { return event.kind->MayHit(TargetKind::Lanes); };
    const auto shares = [](const E& event) { return event.kind->change == EventChange::Shares; };
    const auto slows = [](const E& event) { return event.kind->change == EventChange::Slows; };
    const NumberRange part = NumberRange::Between(0, 1);
    static const FieldTable<EventSpec> fields = {
        Row::Word("kind", "what happens", &E::kind).Required("kind: link-failure"),
        Row::Text("target", "a link, a span, a switch or a plane that it happens to", &E::target)
            .Required("target: plane 0"),
        Row::Whole("lanes", 0, kMostLanesHit, "of a span: links that are hit; 0: all", &E::lanes)
            .Where(lanes),
        Time("at", "0s or, of a flap, more", "when it begins", &E::at).Required("at: 1ms"),
        Time("until", "later than at", "when it ends; left out: never", &E::until).Where(notOfFlap),
        Row::Number("factor", part, "the part of the rate that is left", &E::factor)
            .Required("factor: 0.5")
            .Where(slows),
        Row::Number("load", part, "others' part of the rate that links were built with", &E::load)
            .Required("load: 0.3")
            .Where(shares),
        Time("down", "more than 0s", "time down in each period", &E::down)
            .Required("down: 10ms")
            .Where(ofFlap),
        Time("period", "longer than down", "from one failure to the next", &E::period)
            .Required("period: 100ms")
            .Where(ofFlap),
        Row::Whole("count", 1, 100'000, "failures", &E::count).Where(ofFlap),
    };
    return fields;
}

bool
operator==(const EventSpec& a, const EventSpec& b)
{
    return EqualFields(EventSpec::Fields(), a, b);
}

std::string
PlaceOf(const std::vector<EventSpec>& events, size_t i)
{
    return events[i].place.empty() ? "events." + std::to_string(i) : events[i].place;
}

std::string
PlaceOf(const std::vector<EventSpec>& events)
{
    const std::string first = events.empty() ? "" : events.front().place;
    return first.empty() ? "events" : first.substr(0, first.rfind('.'));
}

bool
EventSpec::IsConstant() const
{
    return kind->change != EventChange::Flaps && at == Duration() && until == Duration();
}

void
EventSpec::Validate(const std::string& path) const
{
    const auto need = [&](bool fine,
                          const std::string& field,
                          const std::string& problem,
                          const std::string& allowed) {
        if (!fine)
        {
            throw ConfigError(path + "." + field, problem, allowed, "give one that is allowed");
        }
    };
    CheckFields(Fields(), *this, path);
    if (kind->change == EventChange::Flaps)
    {
        if (at == Duration())
        {
            throw ConfigError(path + ".at",
                              "a flap begins after the run does",
                              "more than 0s",
                              "give a time, such as at: 1us");
        }
        need(down > Duration(), "down", ToString(down) + " is no time", "above 0s");
        need(period > down,
             "period",
             ToString(period) + " is not longer than the time down, " + ToString(down),
             "above " + ToString(down));
        need(down <= kLatestEvent - at,
             "down",
             "the end, after " + ToString(down) + ", is later than " + ToString(kLatestEvent),
             "up to " + ToString(kLatestEvent - at));
        need(count == 1 || period <= (kLatestEvent - at - down) / (count - 1),
             "period",
             "the last of " + std::to_string(count) + " failures, " + ToString(period) +
                 " apart, ends later than " + ToString(kLatestEvent),
             "such that all end by then");
        need(until == Duration(), "until", "a flap ends after its count", "left out");
        return;
    }
    need(until == Duration() || until > at,
         "until",
         ToString(until) + " is not after the beginning, " + ToString(at),
         "above " + ToString(at) + ", or left out if it does not end");
}

} // namespace scaleacross
