// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-deadlock.h"

#include "core/base/errors.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace ns3
{

using scaleacross::kPriorities;

namespace
{

/// An egress queue: number of the switch in the fabric, port, priority.
struct QueueKey
{
    size_t place;
    uint32_t port;
    uint8_t priority;

    bool operator<(const QueueKey& other) const
    {
        return std::tie(place, port, priority) < std::tie(other.place, other.port, other.priority);
    }

    bool operator==(const QueueKey& other) const
    {
        return std::tie(place, port, priority) == std::tie(other.place, other.port, other.priority);
    }
};

/// The ingress that keeps a queue paused.
struct Pauser
{
    size_t place;
    uint32_t port;
};

/// The queues of a fabric that are paused, or lack credits, and what waits in them.
class PauseGraph
{
  public:
    explicit PauseGraph(const FabricHelper& fabric)
        : m_fabric(fabric)
    {
        std::map<const FabricSwitch*, size_t> places;
        for (const auto& fabricSwitch : fabric.Switches())
        {
            places.emplace(PeekPointer(fabricSwitch), places.size());
            m_held.push_back(fabricSwitch->GetHeldBytes());
        }
        for (const auto& [fabricSwitch, place] : places)
        {
            for (uint32_t port = 0; port < fabricSwitch->GetNPorts(); ++port)
            {
                const Ptr<SwitchPort> egress = fabricSwitch->GetPort(port);
                const auto peer = DynamicCast<SwitchPort>(egress->GetPeer());
                for (uint8_t priority = 0; peer && priority < kPriorities; ++priority)
                {
                    if (egress->IsBlocked(priority) &&
                        (peer->GetSwitch().HasCredits() ||
                         peer->GetSwitch().IsPausing(peer->GetPortNumber(), priority)))
                    {
                        m_stuck[{place, port, priority}] = {places.at(&peer->GetSwitch()),
                                                            peer->GetPortNumber()};
                    }
                }
            }
        }
    }

    /// Takes queues away that can go on after others, until all that are left are stuck.
    void Reduce()
    {
        for (bool changed = true; changed;)
        {
            changed = false;
            for (auto queue = m_stuck.begin(); queue != m_stuck.end();)
            {
                const Pauser& pauser = queue->second;
                if (m_fabric.Switches()[pauser.place]->CouldResume(pauser.port,
                                                                   queue->first.priority,
                                                                   StuckBytes(pauser.place)))
                {
                    queue = m_stuck.erase(queue);
                    changed = true;
                }
                else
                {
                    ++queue;
                }
            }
        }
    }

    /// A cycle of stuck queues, beginning with its smallest; empty if nothing is stuck.
    std::vector<QueueKey> Cycle() const
    {
        std::vector<QueueKey> path;
        if (m_stuck.empty())
        {
            return path;
        }
        QueueKey queue = m_stuck.begin()->first;
        auto seen = path.end();
        while (seen == path.end())
        {
            path.push_back(queue);
            queue = WaitsFor(queue);
            seen = std::find(path.begin(), path.end(), queue);
        }
        path.erase(path.begin(), seen);
        std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
        return path;
    }

  private:
    std::vector<FabricSwitch::HeldBytes> StuckBytes(size_t place) const
    {
        std::vector<FabricSwitch::HeldBytes> stuck;
        std::copy_if(m_held[place].begin(),
                     m_held[place].end(),
                     std::back_inserter(stuck),
                     [&](const FabricSwitch::HeldBytes& part) {
                         return m_stuck.count({place, part.egress, part.priority}) > 0;
                     });
        return stuck;
    }

    /// Domain: a stuck queue.
    QueueKey WaitsFor(const QueueKey& queue) const
    {
        const Pauser& pauser = m_stuck.at(queue);
        for (const auto& part : StuckBytes(pauser.place))
        {
            if (part.ingress == pauser.port && part.lane == queue.priority)
            {
                return {pauser.place, part.egress, part.priority};
            }
        }
        SCALEACROSS_INVARIANT(false,
                              m_fabric.Switches()[queue.place]->GetPort(queue.port)->Describe() +
                                  " is stuck, but its pauser holds nothing of it");
        return queue;
    }

    const FabricHelper& m_fabric;
    std::vector<std::vector<FabricSwitch::HeldBytes>> m_held; //!< by switch
    std::map<QueueKey, Pauser> m_stuck;
};

} // namespace

FabricDeadlock
FindDeadlock(const FabricHelper& fabric)
{
    PauseGraph graph(fabric);
    graph.Reduce();
    FabricDeadlock deadlock;
    for (const QueueKey& queue : graph.Cycle())
    {
        deadlock.ports.push_back(fabric.Switches()[queue.place]->GetPort(queue.port));
        deadlock.priorities.push_back(queue.priority);
    }
    return deadlock;
}

std::string
FabricDeadlock::Text() const
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
    std::string text = "deadlock: " + ports.front()->Describe() + " priority " +
                       std::to_string(priorities.front()) + " waits for ";
    for (size_t i = 1; i < ports.size(); ++i)
    {
        text += name(i) + ", which waits for ";
    }
    return text + name(0);
}

} // namespace ns3
