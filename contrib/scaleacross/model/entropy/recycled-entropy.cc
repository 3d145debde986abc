// SPDX-License-Identifier: GPL-2.0-only

#include "recycled-entropy.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RecycledEntropy);

TypeId
RecycledEntropy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RecycledEntropy")
            .SetParent<RdmaEntropyOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<RecycledEntropy>()
            .AddAttribute("RingSize",
                          "Entropies that are kept to be used again. REPS has 8; more survive a "
                          "burst of answers. To be set before anything has come back.",
                          UintegerValue(8),
                          scaleacross::Fixed(MakeUintegerAccessor(&RecycledEntropy::SetRingSize,
                                                                  &RecycledEntropy::GetRingSize)),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("FreezeTime",
                          "After a sign of failure no random entropies are used for this time.",
                          TimeValue(MilliSeconds(10)),
                          scaleacross::Fixed(MakeTimeAccessor(&RecycledEntropy::m_freezeTime)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "ExplorePackets",
                "Packets with random entropies when the ring has been frozen; about a "
                "bandwidth-delay product.",
                UintegerValue(16),
                scaleacross::Fixed(MakeUintegerAccessor(&RecycledEntropy::m_explorePackets)),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("FreezeOnLoss",
                          "Any loss is a sign of failure, not only a timeout: for fabrics that "
                          "lose nothing to congestion.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&RecycledEntropy::m_freezeOnLoss)),
                          MakeBooleanChecker());
    return tid;
}

RecycledEntropy::RecycledEntropy() = default;

RecycledEntropy::~RecycledEntropy() = default;

std::string
RecycledEntropy::GetName() const
{
    return "recycled";
}

bool
RecycledEntropy::HeedsMarks() const
{
    return true;
}

void
RecycledEntropy::SetRingSize(uint32_t size)
{
    if (!m_ring.empty())
    {
        throw scaleacross::ConfigError("RecycledEntropy::RingSize",
                                       "the ring is in use, with " + std::to_string(m_ring.size()) +
                                           " entropies in it",
                                       "before the first answer",
                                       "set it before Simulator::Run");
    }
    m_ringSize = size;
}

uint32_t
RecycledEntropy::GetRingSize() const
{
    return m_ringSize;
}

uint16_t
RecycledEntropy::Next(int64_t)
{
    if (m_toExplore == 0 && m_unused > 0)
    {
        ++m_recycled;
        const uint32_t place = (m_head + m_ringSize - m_unused) % m_ringSize;
        --m_unused;
        return m_ring[place];
    }
    if (m_frozen && !m_ring.empty())
    {
        ++m_recycled;
        m_again = m_again < m_ring.size() ? m_again : 0;
        return m_ring[m_again++];
    }
    m_toExplore -= m_toExplore > 0 ? 1 : 0;
    ++m_drawn;
    return Draw();
}

void
RecycledEntropy::OnAck(uint16_t entropy, bool marked, int64_t now)
{
    if (m_frozen && now >= m_thawAt)
    {
        m_frozen = false;
        m_toExplore = m_explorePackets;
    }
    if (marked)
    {
        return;
    }
    if (m_head == m_ring.size())
    {
        m_ring.push_back(entropy);
    }
    else
    {
        m_ring[m_head] = entropy;
    }
    m_head = (m_head + 1) % m_ringSize;
    m_unused += m_unused < m_ringSize ? 1 : 0;
}

void
RecycledEntropy::OnLoss(int64_t now)
{
    if (m_freezeOnLoss)
    {
        Freeze(now);
    }
}

void
RecycledEntropy::OnTimeout(int64_t now)
{
    Freeze(now);
}

void
RecycledEntropy::Freeze(int64_t now)
{
    if (!m_frozen && m_toExplore == 0)
    {
        m_frozen = true;
        m_thawAt = now + m_freezeTime.GetPicoSeconds();
    }
}

uint64_t
RecycledEntropy::GetRecycled() const
{
    return m_recycled;
}

uint64_t
RecycledEntropy::GetDrawn() const
{
    return m_drawn;
}

int64_t
RecycledEntropy::WaitsUntil() const
{
    return m_frozen ? m_thawAt : 0;
}

bool
RecycledEntropy::IsFrozen() const
{
    return m_frozen;
}

} // namespace ns3
