// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANDOM_ENTROPY_H
#define SCALEACROSS_RANDOM_ENTROPY_H

#include "rdma-entropy-ops.h"

namespace ns3
{

/**
 * Oblivious spraying at the sender: every data packet gets a UDP source port drawn at random.
 *
 * Model: each of 2^14 ports with equal probability, independently. Over n paths that switches hash
 * to, a packet takes each with probability 1/n to within the 2^14 / n ports per path that a hash
 * gives, which differ by about sqrt(n / 2^14): 2 % for n = 8. So paths are never quite equally
 * loaded, as in reality; spraying at random by switches has no such error. A path that is slow or
 * dead gets its 1/n as well: a transfer takes as long as it does there.
 *
 * Worked case: 8 paths, one of them at half rate: every path gets an eighth, and the slow one needs
 * twice as long for it: 2 against 8 / 7.5 = 1.07 of a balanced load.
 */
class RandomEntropy : public RdmaEntropyOps
{
  public:
    static TypeId GetTypeId();
    RandomEntropy();
    ~RandomEntropy() override;

    std::string GetName() const override;
    uint16_t Next(int64_t now) override;
};

} // namespace ns3

#endif // SCALEACROSS_RANDOM_ENTROPY_H
