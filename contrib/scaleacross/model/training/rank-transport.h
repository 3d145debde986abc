// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_TRANSPORT_H
#define SCALEACROSS_RANK_TRANSPORT_H

#include "core/base/units.h"
#include "core/program/rank-group.h"
#include "core/program/rank-message.h"

#include "ns3/callback.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Moves messages between the ranks of a job: all that the training application knows of the
 * network.
 */
class RankTransport : public Object
{
  public:
    /// Called when a message has arrived completely.
    using DeliveryCallback = Callback<void, const scaleacross::RankMessage&>;

    static TypeId GetTypeId();

    /**
     * Posts a message; never blocks. Messages of one pair of ranks may arrive in another order than
     * they were posted; the tag tells them apart.
     */
    virtual void Send(scaleacross::Rank from,
                      scaleacross::Rank to,
                      scaleacross::Bytes bytes,
                      uint64_t tag,
                      const scaleacross::MessageCare& care = {}) = 0;

    /// Posts a message that the network inside the server copies. Domain: all on one server, one
    /// copy or more.
    virtual void SendCopies(scaleacross::Rank from,
                            const std::vector<scaleacross::MessageCopy>& copies,
                            scaleacross::Bytes bytes,
                            const scaleacross::MessageCare& care) = 0;

    /**
     * Posts a credit of scaleacross::kCreditBytes, which is delivered as messages are and does not
     * wait behind any: it has queue pairs of its own.
     */
    virtual void SendCredit(scaleacross::Rank from, scaleacross::Rank to, uint64_t tag) = 0;

    /// Who is told of messages that arrive at rank `to`.
    virtual void SetDelivery(scaleacross::Rank to, DeliveryCallback callback) = 0;
};

} // namespace ns3

#endif // SCALEACROSS_RANK_TRANSPORT_H
