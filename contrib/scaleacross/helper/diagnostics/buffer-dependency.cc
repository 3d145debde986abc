// SPDX-License-Identifier: GPL-2.0-only

#include "buffer-dependency.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-nic.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3
{

using scaleacross::kPriorities;
using scaleacross::PortGroup;

namespace
{

/// The wires between switches, by their sending ends, and which of them packets take one after the
/// other. Where packets change lanes, the lanes of a wire count as wires of their own.
class DependencyGraph
{
  public:
    /// `lanes` of a wire: 1 if packets keep theirs, or kPriorities.
    DependencyGraph(const FabricHelper& fabric, uint32_t lanes)
        : m_lanes(lanes)
    {
        const auto& switches = fabric.Switches();
        for (size_t place = 0; place < switches.size(); ++place)
        {
            m_places[PeekPointer(switches[place])] = place;
        }
        for (const auto& fabricSwitch : switches)
        {
            m_first.push_back(m_ends.size() * m_lanes);
            for (uint32_t port = 0; port < fabricSwitch->GetNPorts(); ++port)
            {
                m_ends.push_back(fabricSwitch->GetPort(port));
            }
        }
        m_next.resize(m_ends.size() * m_lanes);
        Ways before;
        for (const auto& nic : fabric.Nics())
        {
            // Neighbours on one switch differ at that switch only, where no edge begins.
            const uint32_t address = nic->GetFabricAddress();
            Ways ways;
            for (const auto& fabricSwitch : switches)
            {
                ways.passing.push_back(WiresTo(*fabricSwitch, address, false));
                ways.entering.push_back(WiresTo(*fabricSwitch, address, true));
            }
            if (ways == before)
            {
                continue;
            }
            if (m_lanes == 1)
            {
                AddEdges(switches, ways);
            }
            else
            {
                AddEdgesOfLanes(switches, ways);
            }
            before = std::move(ways);
        }
    }

    /// A cycle among the wires into switches where the priority is lossless, from the smallest on.
    /// Where packets change lanes, of all lanes; the priority counts for nothing.
    std::vector<size_t> Cycle(uint8_t priority) const
    {
        enum Colour : uint8_t
        {
            White,
            Grey,
            Black
        };

        std::vector<Colour> colour(m_next.size(), White);
        for (size_t root = 0; root < m_next.size(); ++root)
        {
            if (colour[root] != White || !Pausable(root, priority))
            {
                continue;
            }
            // Depth first, without recursion: the grey wires and where each has got to.
            std::vector<std::pair<size_t, std::set<size_t>::const_iterator>> path;
            path.emplace_back(root, m_next[root].begin());
            colour[root] = Grey;
            while (!path.empty())
            {
                auto& [wire, next] = path.back();
                if (next == m_next[wire].end())
                {
                    colour[wire] = Black;
                    path.pop_back();
                    continue;
                }
                const size_t to = *next++;
                if (colour[to] == Grey)
                {
                    std::vector<size_t> cycle;
                    for (const auto& step : path)
                    {
                        cycle.push_back(step.first);
                    }
                    cycle.erase(cycle.begin(), std::find(cycle.begin(), cycle.end(), to));
                    std::rotate(cycle.begin(),
                                std::min_element(cycle.begin(), cycle.end()),
                                cycle.end());
                    return cycle;
                }
                if (colour[to] == White && Pausable(to, priority))
                {
                    colour[to] = Grey;
                    path.emplace_back(to, m_next[to].begin());
                }
            }
        }
        return {};
    }

    Ptr<SwitchPort> End(size_t wire) const
    {
        return m_ends[wire / m_lanes];
    }

    /// Domain: packets change lanes.
    uint8_t LaneOf(size_t wire) const
    {
        return static_cast<uint8_t>(wire % m_lanes);
    }

  private:
    /// The ports that switches choose from for an address: for packets that pass by, and for those
    /// of their own NICs. Null if there are none or if they lead to the NIC itself.
    struct Ways
    {
        std::vector<const PortGroup*> passing;
        std::vector<const PortGroup*> entering;

        bool operator==(const Ways& other) const
        {
            return passing == other.passing && entering == other.entering;
        }
    };

    static const PortGroup* WiresTo(const FabricSwitch& fabricSwitch,
                                    uint32_t address,
                                    bool entering)
    {
        const scaleacross::RouteTable& routes = fabricSwitch.Routes();
        const PortGroup* group = entering ? routes.LookupEntry(address) : routes.Lookup(address);
        const bool here =
            group != nullptr &&
            !DynamicCast<SwitchPort>(fabricSwitch.GetPort(group->ports.front())->GetPeer());
        return here ? nullptr : group;
    }

    /// Switch at the far end of a wire; SIZE_MAX if there is a NIC.
    size_t Far(size_t wire) const
    {
        const auto peer = DynamicCast<SwitchPort>(End(wire)->GetPeer());
        return peer ? m_places.at(&peer->GetSwitch()) : SIZE_MAX;
    }

    bool Pausable(size_t wire, uint8_t priority) const
    {
        const auto peer = DynamicCast<SwitchPort>(End(wire)->GetPeer());
        priority = m_lanes == 1 ? priority : LaneOf(wire);
        return peer && peer->HasPfc() &&
               ((peer->GetSwitch().GetLosslessPriorities() >> priority) & 1U) != 0;
    }

    static bool HasNics(const FabricSwitch& fabricSwitch)
    {
        for (uint32_t port = 0; port < fabricSwitch.GetNPorts(); ++port)
        {
            if (!DynamicCast<SwitchPort>(fabricSwitch.GetPort(port)->GetPeer()))
            {
                return true;
            }
        }
        return false;
    }

    /// Adds what packets to one address do, from every switch that has NICs on.
    void AddEdges(const std::vector<Ptr<FabricSwitch>>& switches, const Ways& ways)
    {
        std::vector<bool> reached(switches.size(), false);
        std::vector<size_t> queue;
        const auto goOn = [&](size_t place, const PortGroup* group) {
            for (size_t i = 0; group != nullptr && i < group->ports.size(); ++i)
            {
                const size_t wire = m_first[place] + group->ports[i];
                const size_t far = Far(wire);
                if (far == SIZE_MAX)
                {
                    continue;
                }
                const PortGroup* next = ways.passing[far];
                for (size_t k = 0; next != nullptr && k < next->ports.size(); ++k)
                {
                    m_next[wire].insert(m_first[far] + next->ports[k]);
                }
                if (!reached[far])
                {
                    reached[far] = true;
                    queue.push_back(far);
                }
            }
        };
        for (size_t place = 0; place < switches.size(); ++place)
        {
            if (HasNics(*switches[place]))
            {
                goOn(place, ways.entering[place]);
            }
        }
        for (size_t head = 0; head < queue.size(); ++head)
        {
            goOn(queue[head], ways.passing[queue[head]]);
        }
    }

    /// The same for the lanes of wires: what packets of each service level do.
    void AddEdgesOfLanes(const std::vector<Ptr<FabricSwitch>>& switches, const Ways& ways)
    {
        for (uint8_t level = 0; level < kPriorities; ++level)
        {
            std::set<size_t> reached;
            std::vector<size_t> queue;
            // Where packets go on that have come into a switch by a port.
            auto goOn =
                [&](size_t place, const PortGroup* group, uint32_t in, std::set<size_t>* next) {
                    for (size_t i = 0; group != nullptr && i < group->ports.size(); ++i)
                    {
                        const uint32_t out = group->ports[i];
                        const size_t wire = m_first[place] + size_t{out} * m_lanes +
                                            switches[place]->LaneOf(in, out, level);
                        if (Far(wire) == SIZE_MAX)
                        {
                            continue;
                        }
                        if (next != nullptr)
                        {
                            next->insert(wire);
                        }
                        if (reached.insert(wire).second)
                        {
                            queue.push_back(wire);
                        }
                    }
                };
            for (size_t place = 0; place < switches.size(); ++place)
            {
                for (uint32_t port = 0; port < switches[place]->GetNPorts(); ++port)
                {
                    if (!DynamicCast<SwitchPort>(switches[place]->GetPort(port)->GetPeer()) &&
                        ((switches[place]->GetLosslessPriorities() >> level) & 1U) != 0)
                    {
                        goOn(place, ways.entering[place], port, nullptr);
                    }
                }
            }
            for (size_t head = 0; head < queue.size(); ++head)
            {
                const size_t wire = queue[head];
                const auto peer = DynamicCast<SwitchPort>(End(wire)->GetPeer());
                const size_t far = Far(wire);
                goOn(far, ways.passing[far], peer->GetPortNumber(), &m_next[wire]);
            }
        }
    }

    uint32_t m_lanes;
    std::map<const FabricSwitch*, size_t> m_places;
    std::vector<size_t> m_first; //!< by switch: number of its first port's first lane
    std::vector<Ptr<SwitchPort>> m_ends;
    std::vector<std::set<size_t>> m_next;
};

} // namespace

BufferDependencyCycle
FindBufferDependencyCycle(const FabricHelper& fabric)
{
    uint32_t lossless = 0;
    for (const auto& fabricSwitch : fabric.Switches())
    {
        lossless |= fabricSwitch->GetLosslessPriorities();
    }
    BufferDependencyCycle result;
    if (lossless == 0)
    {
        return result;
    }
    const auto& switches = fabric.Switches();
    if (std::any_of(switches.begin(), switches.end(), [](const Ptr<FabricSwitch>& place) {
            return place->HasLaneMap();
        }))
    {
        const DependencyGraph graph(fabric, kPriorities);
        for (size_t wire : graph.Cycle(0))
        {
            result.ports.push_back(graph.End(wire));
            result.priorities.push_back(graph.LaneOf(wire));
        }
        return result;
    }
    const DependencyGraph graph(fabric, 1);
    for (uint8_t priority = 0; priority < kPriorities && !result.Exists(); ++priority)
    {
        if (((lossless >> priority) & 1U) == 0)
        {
            continue;
        }
        for (size_t wire : graph.Cycle(priority))
        {
            result.ports.push_back(graph.End(wire));
            result.priorities.push_back(priority);
        }
    }
    return result;
}

std::string
BufferDependencyCycle::Text() const
{
    if (!Exists())
    {
        return "";
    }
    const bool alike = std::all_of(priorities.begin(), priorities.end(), [this](uint8_t priority) {
        return priority == priorities.front();
    });
    auto name = [&](size_t i) {
        return ports[i]->Describe() + (alike ? "" : " priority " + std::to_string(priorities[i]));
    };
    std::string text = "cyclic buffer dependency: ";
    for (size_t i = 0; i < ports.size(); ++i)
    {
        text += name(i) + " -> ";
    }
    return text + name(0) + (alike ? " in priority " + std::to_string(priorities.front()) : "");
}

} // namespace ns3
