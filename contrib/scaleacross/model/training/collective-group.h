// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_GROUP_H
#define SCALEACROSS_COLLECTIVE_GROUP_H

#include "cluster-transport.h"
#include "core/program/program.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * What the members of a collective share: its steps (a TaskGraph of one collective and the wait for
 * its end), the way between them, and when all of them are through.
 *
 * Repetition i begins when the first member begins it, and is complete when the last one is
 * through. Members go on to the next one by themselves, without a barrier.
 */
class CollectiveGroup : public Object
{
  public:
    /// Signature of a trace source.
    using CompletedTracedCallback = void (*)(uint32_t repetition, Time took);

    static TypeId GetTypeId();
    CollectiveGroup();
    ~CollectiveGroup() override;

    /// Before the members are made; once.
    void Set(scaleacross::TaskGraph graph, Ptr<ClusterTransport> transport, uint32_t repetitions);

    const scaleacross::TaskGraph& GetGraph() const;
    Ptr<ClusterTransport> GetTransport() const;
    uint32_t GetRepetitions() const;
    /// Repetitions that all members have completed.
    uint32_t GetCompleted() const;

    /// For members. The group is disposed of when the last that has joined leaves.
    void Join();
    void Leave();
    void Begin(uint32_t repetition);
    void End(uint32_t repetition);

  protected:
    void DoDispose() override;

  private:
    scaleacross::TaskGraph m_graph;
    Ptr<ClusterTransport> m_transport;
    std::vector<Time> m_begun;      //!< by repetition
    std::vector<uint32_t> m_begins; //!< members that have begun it
    std::vector<uint32_t> m_ends;   //!< members that are through with it
    uint32_t m_completed{0};
    uint32_t m_members{0}; //!< that have joined and not left
    TracedCallback<uint32_t, Time> m_completedTrace;
};

} // namespace ns3

#endif // SCALEACROSS_COLLECTIVE_GROUP_H
