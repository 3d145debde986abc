// SPDX-License-Identifier: GPL-2.0-only

#include "source-ports.h"

#include "core/base/errors.h"
#include "core/base/path-hash.h"
#include "rdma-nic.h"

#include "ns3/object-factory.h"

#include <string>

namespace scaleacross
{

using ns3::ObjectFactory;
using ns3::RdmaEntropyOps;

void
SourcePorts::SetStream(int64_t stream)
{
    m_stream = stream;
    if (m_ops)
    {
        m_ops->SetStream(stream);
    }
}

uint16_t
SourcePorts::Connect(const Config& config,
                     uint16_t pinned,
                     const QueuePairEnds& ends,
                     const Reordering& reordering)
{
    const uint16_t port = pinned != 0 ? pinned : config.entropy;
    const ns3::TypeId base = RdmaEntropyOps::GetTypeId();
    if (!m_ops && config.entropyOps != base)
    {
        if (!config.entropyOps.IsChildOf(base) || !config.entropyOps.HasConstructor())
        {
            throw ConfigError(ends.Describe() + " EntropyOps",
                              config.entropyOps.GetName() + " gives no entropies",
                              "a type derived from ns3::RdmaEntropyOps",
                              "");
        }
        ObjectFactory factory;
        factory.SetTypeId(config.entropyOps);
        m_ops = factory.Create<RdmaEntropyOps>();
    }
    if (m_ops)
    {
        CheckTolerates(ends.Describe() + " EntropyOps",
                       m_ops->GetName() + " entropies let packets overtake each other",
                       reordering);
        if (port != 0)
        {
            throw ConfigError(ends.Describe() + " Entropy",
                              std::to_string(port) + " is pinned, and EntropyOps is " +
                                  m_ops->GetName(),
                              "one of the two",
                              "leave Entropy or EntropyOps as it is by default");
        }
        if (m_stream >= 0)
        {
            m_ops->SetStream(m_stream);
        }
        m_ops->TakeStream();
        m_ops->FixAttributes("its queue pair is connected");
    }
    if (port != 0)
    {
        return port;
    }
    return PathPortOf(ends.nic->GetFabricAddress(), ends.remoteAddress, ends.path);
}

} // namespace scaleacross
