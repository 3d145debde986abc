// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_QUAD_HEAP_SCHEDULER_H
#define SCALEACROSS_QUAD_HEAP_SCHEDULER_H

#include "ns3/scheduler.h"

#include <cstddef>
#include <vector>

namespace ns3
{

/**
 * An event list for simulations with few pending events, of which each soon causes the next.
 *
 * A heap in which every element has four children: half as deep as a binary one, and the four
 * children's keys (16 bytes each) lie beside each other, apart from the events. RemoveNext only
 * leaves a hole at the top; an Insert that follows fills it, so that the pair costs one pass down.
 * Events of equal time come out in the order of their ids, as the interface demands.
 *
 * Insert and RemoveNext are O(log n), Remove is O(n). Optional: results do not depend on it.
 * \code
 *   ObjectFactory scheduler("ns3::QuadHeapScheduler");
 *   Simulator::SetScheduler(scheduler);
 * \endcode
 */
class QuadHeapScheduler : public Scheduler
{
  public:
    static TypeId GetTypeId();
    QuadHeapScheduler();
    ~QuadHeapScheduler() override;

    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& event) override;

  private:
    void Down(size_t hole, EventKey key, EventImpl* impl);
    void Up(size_t hole, EventKey key, EventImpl* impl);
    void FillHole();

    std::vector<EventKey> m_keys;
    std::vector<EventImpl*> m_impls;
    bool m_hole{false}; //!< element 0 has been removed
};

} // namespace ns3

#endif // SCALEACROSS_QUAD_HEAP_SCHEDULER_H
