// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/connection-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const RecoveryFacts*>&
Recovery::Rows()
{
    static const auto rows = PointersTo<RecoveryFacts>(
        {{{"go-back-n", "a gap: everything from the missing packet on is sent again", true},
          "GoBackN",
          false},
         {{"selective-repeat", "only what is missing; the receiver places packets in any order"},
          "SelectiveRepeat",
          true}});
    return rows;
}

template class Word<RecoveryFacts>;

template <>
const std::vector<const BalanceFacts*>&
Balance::Rows()
{
    static const auto rows = PointersTo<BalanceFacts>(
        {{{"split",
           "every message in equal parts over all queue pairs; when all have arrived",
           true},
          "AllArrived",
          true},
         {{"round-robin", "segments in turn; when all of a message have arrived"}, "AllArrived"},
         {{"dqplb", "segments in turn, numbered; in the order of sending (NCCLX)"}, "InOrder"},
         {{"spray", "segments in turn; by a write after all are acknowledged (NCCLX's spray mode)"},
          "Final",
          false,
          true}});
    return rows;
}

template class Word<BalanceFacts>;

template <>
const std::vector<const QpSchedulerFacts*>&
QpScheduler::Rows()
{
    static const auto rows = PointersTo<QpSchedulerFacts>(
        {{{"packet", "queue pairs of a NIC send a packet each in turn", true},
          "Packet",
          false,
          true},
         {{"burst", "up to qp_burst of one queue pair before the next takes its turn"},
          "Burst",
          true},
         {{"message", "a message of one queue pair to its end before the next takes its turn"},
          "Message"}});
    return rows;
}

template class Word<QpSchedulerFacts>;

template <>
const std::vector<const CopyFacts*>&
Copy::Rows()
{
    static const auto rows = PointersTo<CopyFacts>(
        {{{"zero-copy", "NICs read and write the buffers themselves", true}, false},
         {{"staged", "through a few slots at either end, as NCCL copies"}, true}});
    return rows;
}

template class Word<CopyFacts>;

} // namespace scaleacross
