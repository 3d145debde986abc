// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_FLOW_BOOK_H
#define SCALEACROSS_RDMA_FLOW_BOOK_H

#include "ns3/ptr.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{

class FabricHelper;
class RdmaNic;
class RdmaQueuePair;

/**
 * Notes which messages every queue pair of a fabric has been given, so that headers can be written
 * that tell more than a packet knows: the length of its message, its place, how many are complete.
 *
 * Grows by 32 bytes per message, so it is for those who write files that grow by more.
 */
class RdmaFlowBook
{
  public:
    struct Message
    {
        uint64_t firstPsn;
        uint64_t endPsn; //!< after its last packet
        uint64_t bytes;
        uint64_t offset; //!< bytes posted before on this queue pair
    };

    /// A book of all queue pairs of a fabric, those that come later included. It lives as long as
    /// their NICs, or longer. Throws ConfigError if a message has been posted already.
    static std::shared_ptr<RdmaFlowBook> Open(const FabricHelper& fabric);

    RdmaFlowBook() = default;
    RdmaFlowBook(const RdmaFlowBook&) = delete;
    RdmaFlowBook& operator=(const RdmaFlowBook&) = delete;

    /// Queue pair `number` of the NIC with a fabric address; null if there is none.
    const RdmaQueuePair* Find(uint32_t address, uint32_t number);

    /// The message of a sending queue pair that a PSN belongs to; null if there is none.
    const Message* MessageOf(const RdmaQueuePair& sender, uint64_t psn) const;

    /// Messages of a sending queue pair all of whose PSNs are before `psn`.
    uint64_t CompleteBefore(const RdmaQueuePair& sender, uint64_t psn) const;

  private:
    struct Flow
    {
        std::vector<Message> messages;
        uint64_t bytes{0};
    };

    static void Watch(const std::shared_ptr<RdmaFlowBook>& book, Ptr<RdmaQueuePair> queuePair);

    std::vector<RdmaNic*> m_nics;             //!< not owned: their sinks own the book
    std::map<uint32_t, RdmaNic*> m_byAddress; //!< filled when first asked
    std::map<const RdmaQueuePair*, Flow> m_flows;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_FLOW_BOOK_H
