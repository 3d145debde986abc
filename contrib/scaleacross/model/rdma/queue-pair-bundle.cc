// SPDX-License-Identifier: GPL-2.0-only

#include "queue-pair-bundle.h"

#include "core/base/errors.h"

#include "ns3/node.h"

namespace scaleacross
{

using ns3::AttributeValue;

namespace
{

void
CheckNics(const std::vector<QueuePairBundle::NicPair>& nics)
{
    for (const auto& [from, to] : nics)
    {
        for (const auto& nic : {from, to})
        {
            if (!nic || !nic->GetNode())
            {
                throw ConfigError("RdmaConnection::Connect",
                                  nic ? "a NIC belongs to no node: it was added to none, or "
                                        "Simulator::Destroy has disposed of it"
                                      : "there is no NIC: the pointer is null",
                                  "NICs of a fabric that is there",
                                  "make them by FabricHelper::AddNic, and connect them before "
                                  "Simulator::Destroy");
            }
        }
        if (from == to)
        {
            throw ConfigError("RdmaConnection::Connect",
                              "both ends are " + from->Describe(),
                              "two different NICs",
                              "");
        }
    }
}

} // namespace

void
QueuePairBundle::SetAttribute(const std::string& name, const AttributeValue& value)
{
    if (IsJoined())
    {
        throw ConfigError("RdmaConnection::SetQueuePairAttribute",
                          name + " is set after Connect, which has made the queue pairs",
                          "before Connect",
                          "");
    }
    m_attributes.emplace_back(name, value.Copy());
}

void
QueuePairBundle::SetEntropies(const std::vector<uint16_t>& entropies)
{
    if (IsJoined())
    {
        throw ConfigError("RdmaConnection::SetEntropies", "called after Connect", "", "");
    }
    m_entropies = entropies;
}

void
QueuePairBundle::Join(const std::vector<NicPair>& nics)
{
    if (IsJoined() || nics.empty())
    {
        throw ConfigError("RdmaConnection::Connect",
                          nics.empty() ? "there is no NIC: the list is empty" : "called twice",
                          "at least one pair of NICs, once",
                          "");
    }
    CheckNics(nics);
    m_nics = nics;
}

QueuePairBundle::Ends
QueuePairBundle::Add()
{
    const size_t i = m_queuePairs.size();
    const uint16_t entropy = m_entropies.empty() ? 0 : m_entropies[i % m_entropies.size()];
    m_queuePairs.push_back(Make(m_nics[i % m_nics.size()], entropy, {}));
    return m_queuePairs.back();
}

QueuePairBundle::Ends
QueuePairBundle::AddControl(const Attributes& attributes)
{
    return Make(m_nics.front(), 0, attributes);
}

QueuePairBundle::Ends
QueuePairBundle::Make(const NicPair& nics, uint16_t entropy, const Attributes& special) const
{
    const Ends ends{nics.first->CreateQueuePair(), nics.second->CreateQueuePair()};
    for (const Attributes* attributes : {&m_attributes, &special})
    {
        for (const auto& [name, value] : *attributes)
        {
            ends.local->SetAttribute(name, *value);
            ends.remote->SetAttribute(name, *value);
        }
    }
    const uint32_t path = nics.first->TakePath(nics.second->GetFabricAddress());
    ends.local->SetPath(path);
    ends.remote->SetPath(path);
    ends.local->Connect(nics.second->GetFabricAddress(), ends.remote->GetNumber(), entropy);
    ends.remote->Connect(nics.first->GetFabricAddress(), ends.local->GetNumber());
    return ends;
}

const QueuePairBundle::NicPair&
QueuePairBundle::FirstNics() const
{
    if (m_nics.empty())
    {
        throw ConfigError("RdmaConnection",
                          "is asked for its NICs, and has none",
                          "after Connect, and before Simulator::Destroy",
                          "call Connect first");
    }
    return m_nics.front();
}

void
QueuePairBundle::Clear()
{
    m_nics.clear();
    m_queuePairs.clear();
}

} // namespace scaleacross
