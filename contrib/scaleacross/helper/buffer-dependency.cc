// SPDX-License-Identifier: GPL-2.0-only

#include "buffer-dependency.h"

#include "fabric-helper.h"

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
/// other.
class DependencyGraph
{
  public:
    explicit DependencyGraph(const FabricHelper& fabric)
    {
        const auto& switches = fabric.Switches();
        for (size_t place = 0; place < switches.size(); ++place)
        {
            m_places[PeekPointer(switches[place])] = place;
        }
        for (const auto& fabricSwitch : switches)
        {
            m_first.push_back(m_ends.size());
            for (uint32_t port = 0; port < fabricSwitch->GetNPorts(); ++port)
            {
                m_ends.push_back(fabricSwitch->GetPort(port));
            }
        }
        m_next.resize(m_ends.size());
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
            if (routes != before)
            {
                AddEdges(switches, routes);
                before = std::move(routes);
            }
        }
    }

    /// A cycle among the wires into switches where the priority is lossless, from the smallest on.
    std::vector<size_t> Cycle(uint8_t priority) const
    {
        enum Colour : uint8_t
        {
            White,
            Grey,
            Black
        };

        std::vector<Colour> colour(m_ends.size(), White);
        for (size_t root = 0; root < m_ends.size(); ++root)
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
        return m_ends[wire];
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
        const auto peer = DynamicCast<SwitchPort>(m_ends[wire]->GetPeer());
        return peer ? m_places.at(&peer->GetSwitch()) : SIZE_MAX;
    }

    bool Pausable(size_t wire, uint8_t priority) const
    {
        const auto peer = DynamicCast<SwitchPort>(m_ends[wire]->GetPeer());
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

    std::map<const FabricSwitch*, size_t> m_places;
    std::vector<size_t> m_first; //!< by switch: number of its first port
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
    const DependencyGraph graph(fabric);
    for (uint8_t priority = 0; priority < kPriorities && !result.Exists(); ++priority)
    {
        if (((lossless >> priority) & 1U) == 0)
        {
            continue;
        }
        result.priority = priority;
        for (size_t wire : graph.Cycle(priority))
        {
            result.ports.push_back(graph.End(wire));
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
    std::string text = "cyclic buffer dependency: ";
    for (const auto& port : ports)
    {
        text += port->Describe() + " -> ";
    }
    return text + ports.front()->Describe() + " in priority " + std::to_string(priority);
}

} // namespace ns3
