// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-flow-book.h"

#include "core/base/errors.h"

#include "ns3/fabric-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"

#include <algorithm>

namespace ns3
{

std::shared_ptr<RdmaFlowBook>
RdmaFlowBook::Open(const FabricHelper& fabric)
{
    auto book = std::make_shared<RdmaFlowBook>();
    for (const auto& nic : fabric.Nics())
    {
        book->m_nics.push_back(PeekPointer(nic));
        for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
        {
            Watch(book, nic->GetQueuePair(i));
        }
        nic->TraceConnectWithoutContext(
            "QueuePairCreated",
            Callback<void, Ptr<RdmaQueuePair>>(
                [book](Ptr<RdmaQueuePair> queuePair) { Watch(book, queuePair); }));
    }
    return book;
}

void
RdmaFlowBook::Watch(const std::shared_ptr<RdmaFlowBook>& book, Ptr<RdmaQueuePair> queuePair)
{
    if (queuePair->GetPendingMessages() > 0)
    {
        throw scaleacross::ConfigError(queuePair->Describe(),
                                       "has messages already whose lengths nobody noted",
                                       "captures that are enabled before the first message",
                                       "call EnablePcap before anything is sent");
    }
    const RdmaQueuePair* key = PeekPointer(queuePair);
    book->m_flows[key];
    queuePair->TraceConnectWithoutContext(
        "MessagePosted",
        Callback<void, uint64_t, uint64_t, uint64_t, uint64_t>(
            [book, key](uint64_t bytes, uint64_t, uint64_t psn, uint64_t packets) {
                Flow& flow = book->m_flows[key];
                flow.messages.push_back({psn, psn + packets, bytes, flow.bytes});
                flow.bytes += bytes;
            }));
}

const RdmaQueuePair*
RdmaFlowBook::Find(uint32_t address, uint32_t number)
{
    if (m_byAddress.empty()) // addresses are final when packets are under way, and not before
    {
        for (RdmaNic* nic : m_nics)
        {
            m_byAddress[nic->GetFabricAddress()] = nic;
        }
    }
    auto found = m_byAddress.find(address);
    const bool exists = found != m_byAddress.end() && number < found->second->GetNQueuePairs();
    return exists ? PeekPointer(found->second->GetQueuePair(number)) : nullptr;
}

const RdmaFlowBook::Message*
RdmaFlowBook::MessageOf(const RdmaQueuePair& sender, uint64_t psn) const
{
    const std::vector<Message>& messages = m_flows.at(&sender).messages;
    auto after = std::upper_bound(
        messages.begin(),
        messages.end(),
        psn,
        [](uint64_t value, const Message& message) { return value < message.firstPsn; });
    return after == messages.begin() ? nullptr : &*std::prev(after);
}

uint64_t
RdmaFlowBook::CompleteBefore(const RdmaQueuePair& sender, uint64_t psn) const
{
    const std::vector<Message>& messages = m_flows.at(&sender).messages;
    auto incomplete = std::upper_bound(
        messages.begin(),
        messages.end(),
        psn,
        [](uint64_t value, const Message& message) { return value < message.endPsn; });
    return static_cast<uint64_t>(incomplete - messages.begin());
}

} // namespace ns3
