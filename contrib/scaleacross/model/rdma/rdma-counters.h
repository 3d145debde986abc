// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_COUNTERS_H
#define SCALEACROSS_RDMA_COUNTERS_H

#include <cstdint>

namespace scaleacross
{

/// What a queue pair has done so far, in both of its directions.
struct RdmaCounters
{
    // Sending
    uint64_t postedMessages{0};
    uint64_t postedBytes{0};
    uint64_t ackedMessages{0};
    uint64_t ackedBytes{0};
    uint64_t flushedMessages{0}; //!< given up when the queue pair went into error
    uint64_t flushedBytes{0};
    uint64_t retransmissions{0}; //!< packets sent again
    uint64_t timeouts{0};
    uint64_t notReady{0}; //!< times the receiver had no buffer and the sender waited
    uint64_t cnpsReceived{0};
    uint64_t pullsReceived{0};
    // Receiving
    uint64_t deliveredMessages{0};
    uint64_t notified{0};       //!< of them, those that the receiver's software is told of
    uint64_t deliveredBytes{0}; //!< in order, complete messages or not
    uint64_t naks{0};           //!< sent by this end: a packet is missing
    uint64_t rnrNaks{0};        //!< sent by this end: receiver not ready
    uint64_t outOfOrder{0};     //!< packets that came before an earlier one
    uint64_t placedEarly{0};    //!< of them, those that were kept; the rest was thrown away
    uint64_t duplicates{0};     //!< packets that had arrived before
    uint64_t markedPackets{0};  //!< packets that were marked on the way
    uint64_t trimmedPackets{0}; //!< packets that came in without their payload
    uint64_t cnpsSent{0};
    uint64_t pullsSent{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_RDMA_COUNTERS_H
