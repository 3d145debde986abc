// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/alone-time.h"

#include "core/engine/connection-window.h"
#include "core/engine/convoys.h"
#include "core/engine/fluid-network.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace scaleacross
{

namespace
{

/// One call of AloneTime(), in the evaluator's order: of what ends at the same time volumes before
/// latencies, and what began first of these.
class Course
{
  public:
    Course(const Collective& collective,
           const std::function<const TransferCost&(uint32_t phase)>& costOf,
           Duration delay,
           uint32_t cuts)
        : m_collective(collective),
          m_costOf(costOf),
          m_delay(delay),
          m_network(1, cuts),
          m_convoys(collective)
    {
    }

    Duration Run()
    {
        Enter(m_convoys.Start());
        while (!m_convoys.Done())
        {
            Step();
        }
        return m_now;
    }

  private:
    struct Volume
    {
        FluidNetwork::Id id;
        uint32_t convoy;
        double held; //!< seconds, by the windows of its connections
    };

    struct Latency
    {
        Duration at;
        uint32_t convoy;
    };

    void Enter(const Convoys::Entering& entering)
    {
        for (const uint32_t convoy : entering)
        {
            const TransferCost& cost = m_costOf(m_convoys.PhaseOf(convoy));
            if (cost.Seconds() > 0)
            {
                const TransferPlace place{0, 0, 0};
                const uint32_t chunks = m_convoys.ChunksOf(convoy);
                const Phase& phase = m_collective.phases[m_convoys.PhaseOf(convoy)];
                const double held = m_windows.Hold(phase, cost, m_now, chunks);
                m_volumes.push_back(
                    {m_network.Start(cost, place, m_now, chunks, held), convoy, held});
            }
            else
            {
                Await(convoy);
            }
        }
    }

    void Await(uint32_t convoy, double held = 0)
    {
        const TransferCost& cost = m_costOf(m_convoys.PhaseOf(convoy));
        const Duration latency = cost.LatencyBehind(held, cost.Seconds()) +
                                 (m_convoys.IsEnd(convoy) ? m_delay : Duration());
        m_latencies.push_back({m_now + latency, convoy});
    }

    void Step()
    {
        Duration next = Duration::Max();
        for (const Volume& volume : m_volumes)
        {
            next = std::min(next, m_network.FinishTime(volume.id));
        }
        for (const Latency& latency : m_latencies)
        {
            next = std::min(next, latency.at);
        }
        m_now = next;
        for (size_t i = 0; i < m_volumes.size(); i++)
        {
            if (m_network.FinishTime(m_volumes[i].id) == m_now)
            {
                const Volume volume = m_volumes[i];
                m_volumes.erase(m_volumes.begin() + static_cast<std::ptrdiff_t>(i));
                m_network.Finish(volume.id, m_now);
                Await(volume.convoy, volume.held);
                return;
            }
        }
        for (size_t i = 0; i < m_latencies.size(); i++)
        {
            if (m_latencies[i].at == m_now)
            {
                const uint32_t convoy = m_latencies[i].convoy;
                m_latencies.erase(m_latencies.begin() + static_cast<std::ptrdiff_t>(i));
                Enter(m_convoys.Leave(convoy));
                return;
            }
        }
    }

    const Collective& m_collective;
    const std::function<const TransferCost&(uint32_t phase)>& m_costOf;
    Duration m_delay;
    FluidNetwork m_network;
    RankWindows m_windows;
    Convoys m_convoys;
    Duration m_now;
    std::vector<Volume> m_volumes;
    std::vector<Latency> m_latencies;
};

} // namespace

Duration
AloneTime(const Collective& collective,
          const std::function<const TransferCost&(uint32_t phase)>& costOf,
          Duration delay,
          uint32_t cuts)
{
    bool follows = collective.chunks > 1; // something of it another part
    for (uint32_t p = 1; p < collective.phases.size() && !follows; p++)
    {
        follows = costOf(p).window.windows > 0 || costOf(p).admission.windows > 0;
    }
    if (follows && !collective.streams)
    {
        return Course(collective, costOf, delay, cuts).Run();
    }
    Duration sum = delay;
    for (uint32_t p = 0; p < (collective.streams ? 1 : collective.phases.size()); p++)
    {
        sum += costOf(p).Alone();
    }
    return sum;
}

} // namespace scaleacross
