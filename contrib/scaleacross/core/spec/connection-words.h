// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONNECTION_WORDS_H
#define SCALEACROSS_CONNECTION_WORDS_H

#include "core/base/word.h"

#include <vector>

/// What a study can say of connections in a word: how losses are repaired, how messages are spread
/// over queue pairs, which queue pair of a NIC sends next, and where bytes are copied.
namespace scaleacross
{

/// What is known of a way to repair losses.
struct RecoveryFacts : WordFacts
{
    const char* mode; //!< RdmaQueuePair::RetransmissionMode
    /// The receiver places packets in any order, and only what is missing is sent again; else a
    /// gap means that everything from the missing packet on is sent again.
    bool selective;
};

/// How lost packets are repaired.
using Recovery = Word<RecoveryFacts>;

template <>
const std::vector<const RecoveryFacts*>& Recovery::Rows();
extern template class Word<RecoveryFacts>;

/// What is known of a way to spread messages over queue pairs.
struct BalanceFacts : WordFacts
{
    const char* notification; //!< RdmaConnection::Notification
    bool splits{false};       //!< every message in equal parts over all; else segments in turn
    bool lastWrite{false};    //!< a write after all are acknowledged says that a message is there
};

/// How a connection spreads messages over its queue pairs, and when one counts as delivered.
using Balance = Word<BalanceFacts>;

template <>
const std::vector<const BalanceFacts*>& Balance::Rows();
extern template class Word<BalanceFacts>;

/// What is known of how a NIC serves queue pairs that have something to send.
struct QpSchedulerFacts : WordFacts
{
    const char* turn;      //!< RdmaNic::QueuePairTurn
    bool bursts{false};    //!< a turn ends by bytes: network.qp_burst counts
    bool perPacket{false}; //!< as `analytical` and `flow` share a NIC: evenly
};

/// How long a queue pair of a NIC sends before the next one takes its turn.
using QpScheduler = Word<QpSchedulerFacts>;

template <>
const std::vector<const QpSchedulerFacts*>& QpScheduler::Rows();
extern template class Word<QpSchedulerFacts>;

/// What is known of where the bytes of a message are on their way between GPUs' memories.
struct CopyFacts : WordFacts
{
    bool staged; //!< through a few slots at either end, see StagedCopy; else NICs use the buffers
};

/// Where the bytes of a message are on their way from one GPU's memory to the other's.
using Copy = Word<CopyFacts>;

template <>
const std::vector<const CopyFacts*>& Copy::Rows();
extern template class Word<CopyFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_CONNECTION_WORDS_H
