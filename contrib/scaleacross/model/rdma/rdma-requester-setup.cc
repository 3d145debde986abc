// SPDX-License-Identifier: GPL-2.0-only

// How the sending half of a queue pair begins, and what is checked when a message is posted.

#include "core/base/errors.h"
#include "path-size.h"
#include "rdma-nic.h"
#include "rdma-requester.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/switch-port.h"

#include <algorithm>

namespace scaleacross
{

RdmaRequester::RdmaRequester(const QueuePairEnds& ends,
                             const Config& config,
                             const Reordering& reordering,
                             RdmaCounters& counters)
    : m_ends(ends),
      m_config(config),
      m_reordering(reordering),
      m_counters(counters)
{
}

void
RdmaRequester::Watch(RetryTimer::Watcher& timer, const std::function<void()>& look)
{
    m_timer.SetWatcher(timer);
    startedTrace.OnConnect(look);
    sentTrace.OnConnect(look);
    flushedTrace.OnConnect(look);
    retransmitTrace.OnConnect(look);
    timeoutTrace.OnConnect(look);
    cnpTrace.OnConnect(look);
}

uint16_t
RdmaRequester::Connect(uint16_t pinned)
{
    const ns3::RdmaNic& nic = *m_ends.nic;
    m_mtu = nic.GetPathMtu();
    m_queue.Start(m_ends.startingPsn);
    m_repeat.Start(m_ends.startingPsn, m_reordering.tolerance);
    const auto& wire = nic.GetWire();
    m_timer.Configure(m_config,
                      wire ? 2 * wire->GetDelay().GetPicoSeconds() : 0,
                      m_ends.Describe());
    const uint16_t entropy = m_ports.Connect(m_config, pinned, m_ends, m_reordering);
    CheckPaths();
    m_allowance.SetUp(m_config, m_mtu, m_ends.Describe());
    CheckPulls();
    m_ecnCapable = m_allowance.Control() != nullptr || m_config.ecnCapable ||
                   (m_ports.Ops() != nullptr && m_ports.Ops()->HeedsMarks());
    m_allowance.Start(nic.GetDataRate().GetBitRate(),
                      nic.WireSize(m_mtu, RdmaOperation::Write, false, false),
                      m_ends.startingPsn);
    m_window.Start(m_config,
                   m_allowance.Packets(),
                   m_reordering.outOfOrderLimit,
                   m_allowance.GoesByPulls());
    m_connected = true;
    return entropy;
}

void
RdmaRequester::CheckPaths() const
{
    // By the switch next to it: those of a fabric are alike.
    const auto peer = ns3::DynamicCast<ns3::SwitchPort>(m_ends.nic->GetPeer());
    const std::string cause = peer ? peer->GetSwitch().WhyReordered() : "";
    if (!cause.empty())
    {
        CheckTolerates(m_ends.Describe(), cause, m_reordering);
    }
}

void
RdmaRequester::CheckPulls() const
{
    if (m_allowance.GoesByPulls() && (!m_reordering.selective || !m_config.countsFlight))
    {
        throw ConfigError(m_ends.Describe() + " CongestionOps",
                          m_allowance.Control()->GetName() + " counts packets one by one, and " +
                              (m_reordering.selective ? "WindowCountsFlight is false"
                                                      : "RetransmissionMode is GoBackN"),
                          "RetransmissionMode SelectiveRepeat and WindowCountsFlight",
                          "set them for the queue pairs of both ends");
    }
}

const PostedMessage&
RdmaRequester::Post(RdmaOperation operation, uint64_t bytes, uint64_t tag)
{
    const ns3::RdmaNic& nic = *m_ends.nic;
    const uint64_t packets = std::max<uint64_t>(1, (bytes + m_mtu - 1) / m_mtu);
    const uint64_t last = bytes - (packets - 1) * m_mtu;
    const uint64_t first = packets > 1 ? m_mtu : last;
    // Those in the middle are not longer than the first.
    const uint32_t largest =
        std::max(nic.WireSize(static_cast<uint32_t>(first), operation, true, packets == 1),
                 nic.WireSize(static_cast<uint32_t>(last), operation, packets == 1, true));
    if (largest > m_largest)
    {
        if (nic.IsInitialized())
        {
            CheckFits(largest);
        }
        m_largest = largest;
    }
    ++m_counters.postedMessages;
    m_counters.postedBytes += bytes;
    return m_queue.Post(operation, bytes, tag, packets);
}

void
RdmaRequester::CheckSizes() const
{
    if (m_connected)
    {
        const uint32_t full = m_ends.nic->WireSize(m_mtu, RdmaOperation::Write, false, false);
        CheckFits(std::max(m_largest, full));
    }
}

void
RdmaRequester::CheckFits(uint32_t size) const
{
    CheckFitsPath({m_ends.Describe() + ", RdmaNic::PathMtu " + std::to_string(m_mtu),
                   *m_ends.nic,
                   m_ends.remoteAddress,
                   size,
                   m_allowance.WantsTelemetry()});
}

void
RdmaRequester::Clear()
{
    m_allowance.Clear();
    m_ports.Clear();
    m_queue.Clear();
    completion.Nullify();
    failure.Nullify();
}

} // namespace scaleacross
