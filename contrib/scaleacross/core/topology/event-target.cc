// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/event-target.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/graph-names.h"
#include "core/topology/parts-left.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr char kPlane[] = "plane ";

bool
IsPlane(const EventSpec& event)
{
    return event.target.compare(0, sizeof(kPlane) - 1, kPlane) == 0;
}

/// The switches at which spans begin are what planes consist of: plane i is number i of every site.
std::vector<uint32_t>
SwitchesOfPlane(const ClusterSpec& cluster, const FabricGraph& graph, const std::string& name)
{
    std::vector<uint32_t> switches;
    for (uint32_t v = 0; v < graph.vertices.size(); v++)
    {
        if (IsTop(cluster, graph.vertices[v]) &&
            kPlane + std::to_string(graph.vertices[v].index) == name)
        {
            switches.push_back(v);
        }
    }
    return switches;
}

/// The span of a name, its ends in either order; nothing if there is none, or two by way of dashes
/// in names of sites.
std::optional<uint32_t>
SpanNamed(const ClusterSpec& cluster, const std::string& name)
{
    std::optional<uint32_t> found;
    for (uint32_t span = 0; span < cluster.crossLinks.size(); span++)
    {
        const std::string a = cluster.SiteName(cluster.crossLinks[span].a);
        const std::string b = cluster.SiteName(cluster.crossLinks[span].b);
        if (a + "--" + b == name || b + "--" + a == name)
        {
            if (found)
            {
                return std::nullopt;
            }
            found = span;
        }
    }
    return found;
}

/// The links of a span, or `lanes` of them: the first of each top switch, then the second of each.
std::vector<uint32_t>
LinksOfSpan(const ClusterSpec& cluster,
            const FabricGraph& graph,
            uint32_t span,
            uint32_t lanes,
            const std::string& path)
{
    std::vector<uint32_t> all; // those of a top switch after each other
    for (uint32_t i = 0; i < graph.links.size(); i++)
    {
        if (graph.links[i].kind == LinkKind::Cross && graph.links[i].span == span)
        {
            all.push_back(i);
        }
    }
    if (lanes > all.size())
    {
        throw ConfigError(path + ".lanes",
                          std::to_string(lanes) + " of a span's " + std::to_string(all.size()) +
                              " links",
                          "1 to " + std::to_string(all.size()) + "; 0: all",
                          "give the span more lanes, or hit fewer of them");
    }
    const uint32_t each = cluster.crossLinks[span].lanes;
    std::vector<uint32_t> hit;
    for (uint32_t lane = 0; lane < each; lane++)
    {
        for (size_t i = lane; i < all.size() && (lanes == 0 || hit.size() < lanes); i += each)
        {
            hit.push_back(all[i]);
        }
    }
    return hit;
}

std::string
KnownSpans(const ClusterSpec& cluster)
{
    std::string text;
    for (const CrossLinkSpec& span : cluster.crossLinks)
    {
        text +=
            (text.empty() ? "" : ", ") + cluster.SiteName(span.a) + "--" + cluster.SiteName(span.b);
    }
    return text;
}

/// "east/leaf0 to east/leaf7, east/spine0 to east/spine3, plane 0 to plane 3".
std::string
KnownSwitches(const ClusterSpec& cluster, const FabricGraph& graph)
{
    std::map<std::pair<uint32_t, VertexKind>, std::pair<Vertex, Vertex>> ranges;
    for (const Vertex& vertex : graph.vertices)
    {
        if (vertex.kind != VertexKind::Nic)
        {
            const auto range = ranges.emplace(std::make_pair(vertex.site, vertex.kind),
                                              std::make_pair(vertex, vertex));
            range.first->second.second = vertex;
        }
    }
    std::string text;
    for (const auto& [key, range] : ranges)
    {
        const std::string first = VertexName(cluster, range.first);
        const std::string last = VertexName(cluster, range.second);
        text += (text.empty() ? "" : ", ") + first + (first == last ? "" : " to " + last);
    }
    return text;
}

std::string
KnownPlanes(const ClusterSpec& cluster)
{
    const std::string last = kPlane + std::to_string(cluster.TopSwitches() - 1);
    return cluster.TopSwitches() == 1 ? last : kPlane + std::string("0 to ") + last;
}

/// The links of a vertex, for the message about a link that is not there; the first few.
std::string
KnownLinks(const ClusterSpec& cluster, const FabricGraph& graph, const std::string& name)
{
    const auto vertex = VertexNamed(cluster, graph, name.substr(0, name.find("--")));
    std::string text;
    uint32_t shown = 0;
    uint32_t all = 0;
    for (uint32_t i = 0; i < graph.links.size(); i++)
    {
        if (vertex && graph.links[i].a != *vertex && graph.links[i].b != *vertex)
        {
            continue;
        }
        all++;
        if (shown < 4)
        {
            text += (text.empty() ? "" : ", ") + LinkName(cluster, graph, i);
            shown++;
        }
    }
    return text + (all > shown ? " and " + std::to_string(all - shown) + " more" : "");
}

/// The name that a switch or NIC of a cluster has in a part of it, if it is there: a top switch of
/// a building that is left out is one of a hub.
std::optional<std::string>
NameInPart(const ClusterSpec& whole, const ClusterSpec& part, Vertex vertex)
{
    uint32_t site = 0;
    while (site < part.Sites() && part.SiteName(site) != whole.SiteName(vertex.site))
    {
        site++;
    }
    if (site == part.Sites())
    {
        return std::nullopt;
    }
    if (vertex.site < whole.buildings.size() && site >= part.buildings.size())
    {
        const bool threeStages = whole.buildings[vertex.site].fabric.aggregations > 0;
        if (vertex.kind != (threeStages ? VertexKind::Aggregation : VertexKind::Spine))
        {
            return std::nullopt;
        }
        vertex.kind = VertexKind::Aggregation;
    }
    vertex.site = site;
    return VertexName(part, vertex);
}

/// What the name of an event's target names, of what its kind may hit, with all links of a span;
/// no links: there is nothing of that name.
EventTarget
NamedBy(const ClusterSpec& cluster,
        const FabricGraph& graph,
        const EventSpec& event,
        const std::string& path)
{
    EventTarget target;
    const EventFacts& kind = *event.kind;
    if (kind.MayHit(TargetKind::Plane) && IsPlane(event))
    {
        target.switches = SwitchesOfPlane(cluster, graph, event.target);
    }
    else if (kind.MayHit(TargetKind::Switch))
    {
        const auto vertex = VertexNamed(cluster, graph, event.target);
        if (vertex && graph.vertices[*vertex].kind != VertexKind::Nic)
        {
            target.switches = {*vertex};
        }
    }
    const auto link =
        kind.MayHit(TargetKind::Link) ? LinkNamed(cluster, graph, event.target) : std::nullopt;
    const auto span = SpanNamed(cluster, event.target);
    if (link)
    {
        target.links = {*link};
    }
    else if (span && kind.MayHit(TargetKind::Span))
    {
        target.links = LinksOfSpan(cluster, graph, *span, 0, path);
    }
    for (uint32_t i = 0; i < graph.links.size() && !target.switches.empty(); i++)
    {
        const auto hits = [&](uint32_t v) {
            return v == graph.links[i].a || v == graph.links[i].b;
        };
        if (std::any_of(target.switches.begin(), target.switches.end(), hits))
        {
            target.links.push_back(i);
        }
    }
    return target;
}

/// Throws ConfigError: there is nothing of that name.
[[noreturn]] void
RefuseTarget(const ClusterSpec& cluster,
             const FabricGraph& graph,
             const EventSpec& event,
             const std::string& path)
{
    const EventFacts& kind = *event.kind;
    const bool links = kind.MayHit(TargetKind::Link);
    const bool planes = kind.MayHit(TargetKind::Plane);
    const bool any = links && planes && kind.MayHit(TargetKind::Switch);
    const bool link = event.target.find("--") != std::string::npos;
    const std::string spans = KnownSpans(cluster);
    std::string allowed;
    if (kind.MayHit(TargetKind::Span) && !links)
    {
        allowed = spans.empty() ? "a span, which the cluster has none of" : "a span: " + spans;
    }
    else if (links && (!any || link))
    {
        allowed = "a link: " + KnownLinks(cluster, graph, event.target) +
                  (spans.empty() ? "" : "; a span: " + spans);
    }
    else if (planes && (!any || IsPlane(event)))
    {
        allowed = "a plane: " + KnownPlanes(cluster);
    }
    else
    {
        allowed = (any ? "a link, a span, a plane or a switch: " : "a switch: ") +
                  KnownSwitches(cluster, graph);
    }
    throw ConfigError(path + ".target",
                      Quoted(event.target) + " is no target of a " + ToString(event.kind),
                      allowed,
                      "");
}

} // namespace

EventTarget
TargetOf(const ClusterSpec& cluster,
         const FabricGraph& graph,
         const EventSpec& event,
         const std::string& path)
{
    EventTarget target = NamedBy(cluster, graph, event, path);
    if (event.kind->MayHit(TargetKind::Lanes) && event.lanes > 0)
    {
        const auto span = SpanNamed(cluster, event.target);
        if (!span)
        {
            const std::string spans = KnownSpans(cluster);
            throw ConfigError(path + ".lanes",
                              Quoted(event.target) + " is no span, which has lanes",
                              spans.empty() ? "0, without spans" : "a span: " + spans,
                              "leave lanes out, or name a span");
        }
        target.links = LinksOfSpan(cluster, graph, *span, event.lanes, path);
    }
    if (target.links.empty())
    {
        RefuseTarget(cluster, graph, event, path);
    }
    if (!event.kind->LosesWhatSwitchesHold())
    {
        target.switches.clear(); // its links, and not what it holds
    }
    return target;
}

void
CheckEventTargets(const Scenario& scenario)
{
    if (scenario.events.empty())
    {
        return;
    }
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        TargetOf(scenario.cluster, graph, scenario.events[i], PlaceOf(scenario.events, i));
    }
    // What others take of links all the time.
    std::vector<EventSpec> constant;
    std::copy_if(scenario.events.begin(),
                 scenario.events.end(),
                 std::back_inserter(constant),
                 [](const EventSpec& event) { return event.IsConstant(); });
    PartsLeft(scenario.cluster, constant, graph, "");
}

void
EraseEventsWithoutTarget(Scenario& scenario)
{
    if (scenario.events.empty())
    {
        return;
    }
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    std::vector<EventSpec> kept;
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        const EventSpec& event = scenario.events[i];
        if (!NamedBy(scenario.cluster, graph, event, PlaceOf(scenario.events, i)).links.empty())
        {
            TargetOf(scenario.cluster,
                     graph,
                     event,
                     PlaceOf(scenario.events, i)); // lanes that it does not have
            kept.push_back(event);
        }
    }
    scenario.events = std::move(kept);
}

void
KeepEventsOfPart(const ClusterSpec& whole, Scenario& scenario)
{
    if (scenario.events.empty())
    {
        return;
    }
    const FabricGraph graph = BuildFabricGraph(whole);
    const auto nameOf = [&](uint32_t vertex) {
        return NameInPart(whole, scenario.cluster, graph.vertices[vertex]);
    };
    std::vector<EventSpec> kept;
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        EventSpec event = scenario.events[i];
        TargetOf(whole, graph, event, PlaceOf(scenario.events, i)); // of what is left out, too
        const auto vertex = VertexNamed(whole, graph, event.target);
        const auto link = LinkNamed(whole, graph, event.target);
        const auto a = vertex ? nameOf(*vertex)
                       : link ? nameOf(graph.links[*link].a)
                              : std::nullopt;
        const auto b = link ? nameOf(graph.links[*link].b) : std::nullopt;
        if ((vertex && !a) || (link && (!a || !b)))
        {
            continue;
        }
        if (vertex || link)
        {
            const size_t number = std::min(event.target.find('#'), event.target.size());
            event.target = vertex ? *a : *a + "--" + *b + event.target.substr(number);
        }
        kept.push_back(std::move(event));
    }
    scenario.events = std::move(kept);
    EraseEventsWithoutTarget(scenario);
}

} // namespace scaleacross
