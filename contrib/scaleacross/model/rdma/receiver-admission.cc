// SPDX-License-Identifier: GPL-2.0-only

#include "receiver-admission.h"

#include "rdma-nic.h"

#include "ns3/attribute-guard.h"
#include "ns3/enum.h"
#include "ns3/ns3-compat.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::Bytes;

NS_OBJECT_ENSURE_REGISTERED(ReceiverAdmission);

TypeId
ReceiverAdmission::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ReceiverAdmission")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<ReceiverAdmission>()
            .AddAttribute(
                "GrantedBytes",
                "Payload in bytes that may be granted to all senders together and not "
                "have arrived. At least the rate times the round trip, plus GrantSize, "
                "to keep the line busy.",
                UintegerValue(1 << 20),
                scaleacross::Fixed(MakeUintegerAccessor(&ReceiverAdmission::m_grantedBytes)),
                MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("GrantSize",
                          "Bytes of a message that one grant covers; 0: all of it. Smaller takes "
                          "turns more often and sends more grants.",
                          UintegerValue(128 << 10),
                          scaleacross::Fixed(MakeUintegerAccessor(&ReceiverAdmission::m_grantSize)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "Order",
                "Whose turn it is: Fifo, a message after the other as they were "
                "requested; RoundRobin, one grant to each sender that waits.",
                EnumValue(RoundRobin),
                scaleacross::Fixed(scaleacross::EnumAccessor<Order>(&ReceiverAdmission::m_order)),
                MakeEnumChecker(Fifo, "Fifo", RoundRobin, "RoundRobin"))
            .AddTraceSource("Granted",
                            "Bytes granted that have not arrived.",
                            MakeTraceSourceAccessor(&ReceiverAdmission::m_granted),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

ReceiverAdmission::ReceiverAdmission() = default;

ReceiverAdmission::~ReceiverAdmission() = default;

void
ReceiverAdmission::DoDispose()
{
    m_sources.clear();
    m_turns.clear();
    Object::DoDispose();
}

Ptr<ReceiverAdmission>
ReceiverAdmission::Of(Ptr<RdmaNic> nic)
{
    Ptr<ReceiverAdmission> admission = nic->GetObject<ReceiverAdmission>();
    if (!admission)
    {
        admission = CreateObject<ReceiverAdmission>();
        nic->AggregateObject(admission);
    }
    return admission;
}

uint32_t
ReceiverAdmission::AddSource(GrantCallback grant)
{
    FixAttributes("a connection goes by it");
    m_sources.push_back({grant, {}, 0});
    return static_cast<uint32_t>(m_sources.size() - 1);
}

void
ReceiverAdmission::Request(uint32_t source, uint64_t request, Bytes bytes)
{
    std::deque<Pending>& waiting = m_sources.at(source).waiting;
    if (m_order == Fifo || waiting.empty())
    {
        m_turns.push_back(source);
    }
    waiting.push_back({request, bytes.Count()});
    Serve();
}

void
ReceiverAdmission::Arrived(uint32_t source, Bytes bytes)
{
    m_sources.at(source).granted -= bytes.Count();
    m_granted -= bytes.Count();
    Serve();
}

void
ReceiverAdmission::Withdraw(uint32_t source)
{
    Source& failed = m_sources.at(source);
    m_granted -= failed.granted;
    failed.granted = 0;
    failed.waiting.clear();
    m_turns.erase(std::remove(m_turns.begin(), m_turns.end(), source), m_turns.end());
    Serve();
}

void
ReceiverAdmission::Serve()
{
    while (!m_turns.empty())
    {
        const uint32_t number = m_turns.front();
        Source& source = m_sources[number];
        Pending& pending = source.waiting.front();
        const uint64_t part = m_grantSize > 0 ? std::min(m_grantSize, pending.left) : pending.left;
        if (m_granted.Get() > 0 && m_granted.Get() + part > m_grantedBytes)
        {
            return;
        }
        pending.left -= part;
        source.granted += part;
        m_granted += part;
        m_peak = std::max<uint64_t>(m_peak, m_granted);
        const uint64_t request = pending.request;
        const bool done = pending.left == 0;
        if (done)
        {
            source.waiting.pop_front();
        }
        if (done || m_order == RoundRobin)
        {
            m_turns.pop_front();
        }
        if (m_order == RoundRobin && !source.waiting.empty())
        {
            m_turns.push_back(number);
        }
        source.grant(request, Bytes(part));
    }
}

Bytes
ReceiverAdmission::GetGranted() const
{
    return Bytes(m_granted);
}

Bytes
ReceiverAdmission::GetPeakGranted() const
{
    return Bytes(m_peak);
}

uint64_t
ReceiverAdmission::GetWaiting() const
{
    uint64_t count = 0;
    for (const Source& source : m_sources)
    {
        count += source.waiting.size();
    }
    return count;
}

} // namespace ns3
