// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_QUEUE_PAIR_BUNDLE_H
#define SCALEACROSS_QUEUE_PAIR_BUNDLE_H

#include "rdma-nic.h"
#include "rdma-queue-pair.h"

#include "ns3/attribute.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * The queue pairs of a connection: between which NICs they are, with which attributes, pinned to
 * which UDP source ports.
 *
 * Model: of several pairs of NICs (the ports of servers that are on several planes or leaves) and
 * several UDP source ports, queue pair i has the i-th in turn of each. Attributes are those of both
 * ends. Everything is set before Join.
 *
 * Worked case: pairs a and b, ports 50,000, 50,001 and 50,002, four queue pairs: a 50,000, b
 * 50,001, a 50,002, b 50,000.
 */
class QueuePairBundle
{
  public:
    /// Sending and receiving NIC.
    using NicPair = std::pair<ns3::Ptr<ns3::RdmaNic>, ns3::Ptr<ns3::RdmaNic>>;
    using Attributes = std::vector<std::pair<std::string, ns3::Ptr<ns3::AttributeValue>>>;

    /// Both ends of a queue pair.
    struct Ends
    {
        ns3::Ptr<ns3::RdmaQueuePair> local;
        ns3::Ptr<ns3::RdmaQueuePair> remote;
    };

    /// Throws ConfigError after Join, as the next one.
    void SetAttribute(const std::string& name, const ns3::AttributeValue& value);
    /// Empty: not pinned.
    void SetEntropies(const std::vector<uint16_t>& entropies);

    /// The NICs. Throws ConfigError unless they are there, in pairs of two different ones, once.
    void Join(const std::vector<NicPair>& nics);

    bool IsJoined() const
    {
        return !m_nics.empty();
    }

    /// Makes and connects the next queue pair.
    Ends Add();
    /// Makes and connects one beside them, between the first NICs, not pinned, with attributes that
    /// go before the others.
    Ends AddControl(const Attributes& attributes);

    /// Throws ConfigError if there are none.
    const NicPair& FirstNics() const;

    /// Those of Add.
    const std::vector<Ends>& QueuePairs() const
    {
        return m_queuePairs;
    }

    /// Forgets NICs and queue pairs.
    void Clear();

  private:
    Ends Make(const NicPair& nics, uint16_t entropy, const Attributes& special) const;

    std::vector<NicPair> m_nics; //!< empty before Join
    std::vector<Ends> m_queuePairs;
    Attributes m_attributes;
    std::vector<uint16_t> m_entropies;
};

} // namespace scaleacross

#endif // SCALEACROSS_QUEUE_PAIR_BUNDLE_H
