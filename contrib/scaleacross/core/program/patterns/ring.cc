// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// Whom a ring passes after whom: members in order, or a lane server by server.
class RingOrder
{
  public:
    explicit RingOrder(const Phase& phase)
        : m_n(phase.group.Size()),
          m_perServer(phase.perServer),
          m_lane(phase.lane)
    {
    }

    /// The member at a place of the ring.
    uint32_t MemberAt(uint32_t place) const
    {
        const uint32_t server = place / m_perServer;
        return server * m_perServer + Swap(server, place % m_perServer);
    }

    /// The place of a member.
    uint32_t PlaceOf(uint32_t member) const
    {
        const uint32_t server = member / m_perServer;
        return server * m_perServer + Unswap(server, member % m_perServer);
    }

    uint32_t Next(uint32_t member) const
    {
        return MemberAt((PlaceOf(member) + 1) % m_n);
    }

    /// The member so many places further back. Domain: places <= n.
    uint32_t Before(uint32_t member, uint32_t places) const
    {
        return MemberAt((PlaceOf(member) + m_n - places) % m_n);
    }

  private:
    /// Upwards from the lane's position in even servers, downwards from the one before in odd ones.
    uint32_t Swap(uint32_t server, uint32_t step) const
    {
        return server % 2 == 0 ? (m_lane + step) % m_perServer
                               : (m_lane + 2 * m_perServer - 1 - step) % m_perServer;
    }

    uint32_t Unswap(uint32_t server, uint32_t position) const
    {
        return server % 2 == 0 ? (position + m_perServer - m_lane) % m_perServer
                               : (m_lane + 2 * m_perServer - 1 - position) % m_perServer;
    }

    uint32_t m_n;
    uint32_t m_perServer;
    uint32_t m_lane;
};

/// n-1 dependent steps to the next member.
class Ring : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::Ring;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        return OneFlow(phase.group.Size() - 1,
                       true,
                       RingOrder(phase).Next(index),
                       SentBy(phase, index));
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }

    void ForEachPeer(const Phase& phase,
                     uint32_t index,
                     const std::function<void(uint32_t)>& visit) const override
    {
        Phase turn = phase;
        for (turn.lane = 0; turn.lane < phase.perServer; turn.lane++)
        {
            visit(RingOrder(turn).Next(index));
        }
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.perEdge = rounds.perMember = phase.group.Size() - 1;
        rounds.turns = phase.perServer;
        return rounds;
    }
};

class RingReduceScatter : public Ring
{
  public:
    Pattern Mirror() const override
    {
        return Pattern::RingAllGather;
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        // The part of whoever is so far back; after n-1 steps that is each member's own.
        const RingOrder order(phase);
        const uint32_t part = order.Before(index, number + 1);
        return {order.Next(index), 0, PartOf(phase.bytes, part, phase.group.Size())};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        // All parts but its own.
        return phase.bytes - PartOf(phase.bytes, index, phase.group.Size());
    }
};

class RingAllGather : public Ring
{
  public:
    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        const RingOrder order(phase);
        const uint32_t part = order.Before(index, number);
        return {order.Next(index), 0, PartOf(phase.bytes, part, phase.group.Size())};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        // It never sends on the part that its successor started from.
        return phase.bytes - PartOf(phase.bytes, RingOrder(phase).Next(index), phase.group.Size());
    }
};

} // namespace

const StepPattern&
RingReduceScatterSteps()
{
    static const RingReduceScatter steps;
    return steps;
}

const StepPattern&
RingAllGatherSteps()
{
    static const RingAllGather steps;
    return steps;
}

} // namespace scaleacross
