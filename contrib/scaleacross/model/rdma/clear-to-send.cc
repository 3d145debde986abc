// SPDX-License-Identifier: GPL-2.0-only

#include "clear-to-send.h"

namespace scaleacross
{

using ns3::Ptr;
using ns3::RdmaQueuePair;
using ns3::ReceiverAdmission;

void
ClearToSend::Connect(const Config& config,
                     Ptr<RdmaQueuePair> local,
                     Ptr<RdmaQueuePair> remote,
                     Ptr<ReceiverAdmission> admission,
                     const ReceiverAdmission::GrantCallback& grant)
{
    m_bytes = config.bytes;
    m_local = local;
    m_remote = remote;
    m_admission = admission;
    m_source = admission->AddSource(grant);
}

void
ClearToSend::Request(uint64_t id)
{
    m_local->Post(RdmaOperation::Send, Bytes(m_bytes), id);
}

void
ClearToSend::RequestArrived(uint64_t id, Bytes bytes)
{
    m_admission->Request(m_source, id, bytes);
}

void
ClearToSend::SendGrant(uint64_t id, Bytes bytes)
{
    m_grants.push_back({id, bytes.Count()});
    m_remote->Post(RdmaOperation::Send, Bytes(m_bytes), id);
}

ClearToSend::Grant
ClearToSend::TakeGrant()
{
    const Grant grant = m_grants.front();
    m_grants.pop_front();
    return grant;
}

void
ClearToSend::Arrived(Bytes bytes)
{
    m_admission->Arrived(m_source, bytes);
}

void
ClearToSend::Withdraw()
{
    m_grants.clear();
    m_admission->Withdraw(m_source);
}

void
ClearToSend::Clear()
{
    m_local = nullptr;
    m_remote = nullptr;
    m_admission = nullptr;
    m_grants.clear();
}

} // namespace scaleacross
