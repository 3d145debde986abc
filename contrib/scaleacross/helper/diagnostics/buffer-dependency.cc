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
        std::vector<const PortGroup*> before;
        for (const auto& nic : fabric.Nics())
        {
            // Neighbours on one switch differ at that switch only, where no edge begins.
            const uint32_t address = nic->GetFabricAddress();
            std::vector<const PortGroup*> routes;
            for (const auto& fabricSwitch : switches)
            {
                routes.push_back(WiresTo(*fabricSwitch, address));
            }
            if (routes == before)
            {
                continue;
            }
            if (m_lanes == 1)
            {
                AddEdges(switches, routes);
            }
            else
            {
                AddEdgesOfLanes(switches, routes);
            }
            before = std::move(routes);
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
    /// The ports a switch chooses from for an address; null if there are none or if they lead to
    /// the NIC itself.
    static const PortGroup* WiresTo(const FabricSwitch& fabricSwitch, uint32_t address)
    {
        const PortGroup* group = fabricSwitch.Routes().Lookup(address);
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

    /// Adds what packets to one address do, from every switch that has NICs on.
    void AddEdges(const std::vector<Ptr<FabricSwitch>>& switches,
                  const std::vector<const PortGroup*>& routes)
    {
        std::vector<bool> reached(switches.size(), false);
        std::vector<size_t> queue;
        for (size_t place = 0; place < switches.size(); ++place)
        {
            for (uint32_t port = 0; port < switches[place]->GetNPorts() && !reached[place]; ++port)
            {
                if (!DynamicCast<SwitchPort>(switches[place]->GetPort(port)->GetPeer()))
                {
                    reached[place] = true;
                    queue.push_back(place);
                }
            }
        }
        for (size_t head = 0; head < queue.size(); ++head)
        {
            const size_t place = queue[head];
            for (size_t i = 0; routes[place] != nullptr && i < routes[place]->ports.size(); ++i)
            {
                const size_t wire = m_first[place] + routes[place]->ports[i];
                const size_t far = Far(wire);
                if (far == SIZE_MAX)
                {
                    continue;
                }
                for (size_t k = 0; routes[far] != nullptr && k < routes[far]->ports.size(); ++k)
                {
                    m_next[wire].insert(m_first[far] + routes[far]->ports[k]);
                }
                if (!reached[far])
                {
                    reached[far] = true;
                    queue.push_back(far);
                }
            }
        }
    }

    /// The same for the lanes of wires: what packets of each service level do.
    void AddEdgesOfLanes(const std::vector<Ptr<FabricSwitch>>& switches,
                         const std::vector<const PortGroup*>& routes)
    {
        for (uint8_t level = 0; level < kPriorities; ++level)
        {
            std::set<size_t> reached;
            std::vector<size_t> queue;
            // Where packets go on that have come into a switch by a port.
            auto goOn = [&](size_t place, uint32_t in, std::set<size_t>* next) {
                for (size_t i = 0; routes[place] != nullptr && i < routes[place]->ports.size(); ++i)
                {
                    const uint32_t out = routes[place]->ports[i];
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
                        goOn(place, port, nullptr);
                    }
                }
            }
            for (size_t head = 0; head < queue.size(); ++head)
            {
                const size_t wire = queue[head];
                const auto peer = DynamicCast<SwitchPort>(End(wire)->GetPeer());
                goOn(Far(wire), peer->GetPortNumber(), &m_next[wire]);
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
