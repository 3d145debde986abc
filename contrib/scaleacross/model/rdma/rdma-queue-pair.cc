// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-queue-pair.h"

#include "core/base/errors.h"
#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/simulator-time.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaQueuePair");

using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::PostedMessage;
using scaleacross::RdmaOperation;

RdmaQueuePair::RdmaQueuePair()
    : m_requester(m_ends, m_requesterConfig, m_reordering, m_counters),
      m_responder(m_ends, m_responderConfig, m_reordering, m_counters)
{
}

RdmaQueuePair::~RdmaQueuePair() = default;

void
RdmaQueuePair::DoDispose()
{
    m_ends.nic = nullptr;
    m_requester.Clear();
    m_responder.Clear();
    Object::DoDispose();
}

void
RdmaQueuePair::SetNic(RdmaNic& nic, uint32_t number)
{
    m_ends.nic = &nic;
    m_ends.number = number;
    m_ends.path = number;
    // Whoever looks at this queue pair has to see its NIC act at the right time.
    const auto watch = [&nic]() { nic.WatchDepartures(); };
    m_requester.Watch(nic, watch);
    m_responder.Watch(watch);
}

void
RdmaQueuePair::SetPath(uint32_t number)
{
    if (m_requester.IsConnected())
    {
        throw ConfigError(Describe() + " SetPath", "called after Connect", "before Connect", "");
    }
    m_ends.path = number;
}

void
RdmaQueuePair::Connect(uint32_t address, uint32_t remote, uint16_t entropy)
{
    RdmaNic* nic = m_ends.nic;
    const bool connected = m_requester.IsConnected();
    if (nic == nullptr || connected || address == nic->GetFabricAddress())
    {
        throw ConfigError(nic == nullptr ? "RdmaQueuePair::Connect" : Describe(),
                          nic == nullptr ? "belongs to no NIC"
                                         : (connected ? "is connected already"
                                                      : "would be connected to its own NIC"),
                          "one connection, to another NIC",
                          "create queue pairs with RdmaNic::CreateQueuePair");
    }
    nic->BringUpToDate(); // what came before is not for it
    m_ends.remoteAddress = address;
    m_ends.remoteNumber = remote;
    m_ends.entropy = m_requester.Connect(entropy);
    m_responder.Connect(m_requester.Allowance().GoesByPulls());
    NS_LOG_INFO(Simulator::Now().As(Time::US) << " " << Describe() << ": connected to number "
                                              << remote << " of NIC " << address);
    if (nic->IsInitialized())
    {
        m_requester.CheckSizes();
    }
}

void
RdmaQueuePair::CheckMessageSize(const char* where, Bytes bytes)
{
    if (bytes.Count() > kMostMessageBytes)
    {
        throw ConfigError(where,
                          "a message of " + std::to_string(bytes.Count()) + " bytes",
                          "at most " + std::to_string(kMostMessageBytes) + " bytes",
                          "send several, or look for a difference that fell below 0");
    }
}

bool
RdmaQueuePair::Post(RdmaOperation operation, Bytes bytes, uint64_t tag)
{
    if (!m_requester.IsConnected())
    {
        throw ConfigError(m_ends.nic == nullptr ? "RdmaQueuePair::Post" : Describe(),
                          "a message is posted before Connect",
                          "",
                          "");
    }
    if (HasFailed())
    {
        return false;
    }
    CheckMessageSize("RdmaQueuePair::Post", bytes);
    const PostedMessage message = m_requester.Post(operation, bytes.Count(), tag);
    m_ends.nic->Posted(this);
    m_postedTrace(message.bytes, message.tag, message.firstPsn, message.packets);
    return true; // the trace comes last: a sink may post
}

void
RdmaQueuePair::PostReceive(uint32_t count)
{
    const bool hasNic = m_ends.nic != nullptr;
    const bool connected = m_requester.IsConnected();
    const uint64_t posted = (hasNic ? GetPostedReceives() : 0) + count;
    const uint32_t depth = m_responderConfig.receiveQueueDepth;
    if (!connected || posted > depth)
    {
        throw ConfigError(hasNic ? Describe() : "RdmaQueuePair::PostReceive",
                          connected ? std::to_string(posted) + " receives would be posted"
                                    : "a receive is posted before Connect",
                          "at most ReceiveQueueDepth, " + std::to_string(depth) +
                              "; 0 needs no receives",
                          "a larger RdmaQueuePair::ReceiveQueueDepth");
    }
    m_responder.PostReceives(count);
    m_ends.nic->Posted(this);
}

void
RdmaQueuePair::ShowPosted()
{
    m_requester.ShowPosted();
    m_responder.ShowPosted();
}

uint64_t
RdmaQueuePair::GetPostedReceives() const
{
    GetNic().BringUpToDate();
    return m_responder.PostedReceives();
}

void
RdmaQueuePair::SetCompletionCallback(RdmaMessageCallback callback)
{
    m_requester.completion = callback;
}

void
RdmaQueuePair::SetDeliveryCallback(RdmaMessageCallback callback)
{
    m_responder.delivery = callback;
}

void
RdmaQueuePair::SetFailureCallback(RdmaFailureCallback callback)
{
    m_requester.failure = callback;
}

uint32_t
RdmaQueuePair::GetNumber() const
{
    return m_ends.number;
}

uint32_t
RdmaQueuePair::GetRemoteAddress() const
{
    return m_ends.remoteAddress;
}

uint32_t
RdmaQueuePair::GetRemoteNumber() const
{
    return m_ends.remoteNumber;
}

uint16_t
RdmaQueuePair::GetEntropy() const
{
    return m_ends.entropy;
}

uint8_t
RdmaQueuePair::GetPriority() const
{
    return m_requesterConfig.priority;
}

RdmaQueuePair::State
RdmaQueuePair::GetState() const
{
    return HasFailed()                 ? State::Error
           : m_requester.IsConnected() ? State::ReadyToSend
                                       : State::Reset;
}

bool
RdmaQueuePair::HasFailed() const
{
    return !GetFailure().empty();
}

const std::string&
RdmaQueuePair::GetFailure() const
{
    return m_requester.Failure();
}

const RdmaQueuePair::Counters&
RdmaQueuePair::GetCounters() const
{
    GetNic().BringUpToDate();
    return m_counters;
}

uint64_t
RdmaQueuePair::GetUnacked() const
{
    GetNic().BringUpToDate();
    return m_requester.Queue().Unacked();
}

uint64_t
RdmaQueuePair::GetPendingMessages() const
{
    return m_requester.Queue().Size();
}

Ptr<RdmaCongestionOps>
RdmaQueuePair::GetCongestionOps() const
{
    return m_requester.Allowance().Control();
}

void
RdmaQueuePair::SetCongestionOps(Ptr<RdmaCongestionOps> control)
{
    if (m_requester.IsConnected())
    {
        throw ConfigError(Describe() + " SetCongestionOps",
                          "called after Connect",
                          "one congestion control, before Connect",
                          "");
    }
    m_requester.Allowance().SetControl(control);
}

Ptr<RdmaEntropyOps>
RdmaQueuePair::GetEntropyOps() const
{
    return m_requester.Ports().Ops();
}

void
RdmaQueuePair::SetEntropyOps(Ptr<RdmaEntropyOps> entropies)
{
    if (m_requester.IsConnected())
    {
        throw ConfigError(Describe() + " SetEntropyOps",
                          "called after Connect",
                          "one object, before Connect",
                          "");
    }
    m_requester.Ports().SetOps(entropies);
}

int64_t
RdmaQueuePair::AssignStreams(int64_t stream)
{
    m_requester.Ports().SetStream(stream);
    return 1;
}

DataRate
RdmaQueuePair::GetRate()
{
    GetNic().BringUpToDate();
    m_requester.Allowance().Advance(scaleacross::SimulatorPicoseconds());
    return DataRate(m_requester.Allowance().Rate());
}

RdmaNic&
RdmaQueuePair::GetNic() const
{
    if (m_ends.nic == nullptr)
    {
        throw ConfigError("RdmaQueuePair",
                          "belongs to no NIC: it was not made by one, or Simulator::Destroy has "
                          "disposed of it",
                          "a queue pair of a NIC that is there",
                          "create queue pairs with RdmaNic::CreateQueuePair, and ask before "
                          "Simulator::Destroy");
    }
    return *m_ends.nic;
}

std::string
RdmaQueuePair::Describe() const
{
    return m_ends.Describe();
}

} // namespace ns3
