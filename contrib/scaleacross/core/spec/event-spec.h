// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVENT_SPEC_H
#define SCALEACROSS_EVENT_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/base/word.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/// What happens to what an event hits.
enum class EventChange : uint8_t
{
    Fails, //!< it is down
    Slows, //!< its links have a part of their rate
    Flaps, //!< its links go down and come back, again and again
    Shares //!< its links carry others' packets too
};

/// What a target's name may be one of.
enum class TargetKind : uint8_t
{
    Link,   //!< between two switches, or of a NIC
    Span,   //!< all links of one
    Lanes,  //!< some links of a span
    Switch, //!< all of its links
    Plane   //!< number i of the switches at which spans begin, at every site: all of their links
};

/// What is known of a kind of event.
struct EventFacts : WordFacts
{
    EventChange change;
    std::set<TargetKind> targets; //!< what it may happen to

    bool MayHit(TargetKind target) const
    {
        return targets.count(target) > 0;
    }

    /// What a switch holds is lost with it; else it is its links that are hit.
    bool LosesWhatSwitchesHold() const
    {
        return change == EventChange::Fails;
    }
};

/// What kind of event it is.
using EventKind = Word<EventFacts>;

template <>
const std::vector<const EventFacts*>& EventKind::Rows();
extern template class Word<EventFacts>;

/// Nothing may begin or end later: 11 days, which leaves detection and convergence room in int64
/// ps.
constexpr Duration kLatestEvent = Duration::Picoseconds(1'000'000'000'000'000'000);

/// More links than any span has.
constexpr uint32_t kMostLanesHit = 1'000'000;

/**
 * Something that happens to the network while a scenario runs.
 *
 * Targets: a link "east/leaf3--east/spine0" ("#2" behind it is the second of parallel ones), a span
 * "east--west", which is all of its links or `lanes` of them, a switch "east/leaf3", or a plane
 * "plane 5", which is number 5 of the switches at which spans begin, at every site. A degradation
 * or flap of a switch or plane is one of all its links. What begins at time zero is known to the
 * network from the beginning.
 */
struct EventSpec
{
    EventKind kind;
    std::string target;
    uint32_t lanes{0}; //!< of a span: links that are hit, spread over its planes; 0: all
    double load{0.3};  //!< foreign traffic: part of the rate that links were built with, (0, 1)
    Duration at;
    Duration until;     //!< end; 0: none (not for a flap)
    double factor{0.5}; //!< degradation: the part of the rate that is left, (0, 1)
    Duration down;      //!< flap: time down in each period
    Duration period;    //!< flap: from one failure to the next
    uint32_t count{1};  //!< flap: failures
    /// Where it was read, for messages: "study.yaml:12:5 events.0", or nothing. No part of the
    /// value: events that differ in nothing else are equal.
    std::string place;

    /// It holds from time zero for as long as anything runs.
    bool IsConstant() const;

    /// What a study may say of an event, in canonical order.
    static const FieldTable<EventSpec>& Fields();

    /// Throws ConfigError (where = path + ".<field>"). Whether the target exists is for the
    /// topology to say (TargetOf).
    void Validate(const std::string& path) const;
};

bool operator==(const EventSpec& a, const EventSpec& b);

/// What messages call number i of events: by its place, else "events.<i>". Domain: there is one.
std::string PlaceOf(const std::vector<EventSpec>& events, size_t i);

/// What messages call all of them together: the place of the first one's list, else "events".
std::string PlaceOf(const std::vector<EventSpec>& events);

} // namespace scaleacross

#endif // SCALEACROSS_EVENT_SPEC_H
