// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_DELAY_H
#define SCALEACROSS_LOSS_DELAY_H

#include "core/spec/network-plan.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Messages that may lose packets on their way, all alike.
struct LossyMessages
{
    double count{1};     //!< of a chain in one round; less than 1: only some chains have one
    double loss{0};      //!< q, probability that a packet is lost, in [0, 1)
    double roundTrip{0}; //!< t in seconds, > 0
    double pairs{1};     //!< Q, queue pairs that a message is cut over
    double packets{1};   //!< m, packets of a queue pair in a message
    double inFlight{1};  //!< N, packets that a queue pair sends in a round trip, > 0
    double silent{1}; //!< s, packets at the end of a queue pair whose loss nothing after tells of
    /// Seconds until the sender's next message tells of those; infinity if it does not.
    double untold{0};
    /// Members that wait for each other in a circle, >= 1: if such packets of all of them are lost,
    /// there is no next message. Infinity: somebody always goes on.
    double circle{2};
};

/// Rounds that a chain of messages goes through one after the other, all alike. What is under way
/// in one round is under way at the same time.
struct LossyRounds
{
    double rounds{1};
    std::vector<LossyMessages> messages;
};

/// Chains of messages that do not wait for each other, all alike, and what may delay them.
struct LossyChains
{
    double chains{1};
    double steps{1}; //!< rounds of a chain, those without a risk among them
    Recovery recovery;
    double timeout{0};               //!< T in seconds
    std::vector<LossyRounds> rounds; //!< empty: nothing is lost

    /// The same chains go on: through the steps of `next`, which has as many chains.
    void Append(const LossyChains& next);

    /**
     * The same of all `chunks` of which these are one. A member begins a round of a chunk when it
     * is through with the same of the one before on its channel, so that a chain goes through the
     * rounds of all of those; the channels have chains of their own, and share the NIC.
     */
    void Repeat(uint32_t chunks, uint32_t channels);
};

/**
 * Packets that are sent for one that is needed.
 *
 * Selective repeat: 1 / (1 - q). Go-back-N: (1 - q + q v) / (1 - q), where v is how many packets
 * after a lost one are sent in vain: as many as a queue pair sends in a round trip, or as there are
 * up to its end, on average over its m packets m / 2 if m <= N, else N - N^2 / (2 m); at least 1.
 */
double LossVolume(const LossyMessages& messages, Recovery recovery);

/**
 * Expected seconds by which losses delay the slowest of all chains, beyond what they add to the
 * volume.
 *
 * A message is there when its slowest queue pair is. A packet that is lost with d packets of its
 * queue pair after it arrives a round trip late, while those after it take d / N of one: it delays
 * the message by t (1 - d / N), and by nothing if d > N. The s last packets are told of by nothing
 * that follows in the message, but by the sender's next one `untold` seconds later; for the others
 * d counts from s. If there is no next message, because the sender itself waits for a packet that
 * nobody tells of, the timeout does; it begins with the last progress, so T + t (T where the queue
 * pair has one packet). A repetition that is lost as well costs a timeout, less what the packets
 * after it take. Under go-back-N what comes after the lost packet is at risk again; it stalls once
 * more, t each time. So the delay D of a message has
 *
 *     -ln P(D <= y) = Q l min(m - s, N (1 - y/t))    for y < t, l = -ln(1 - q)
 *                     - Q ln Poisson(w q; j)         instead, if more: go-back-N, j = max(1, [y/t])
 *                     + Q l min(m, s)                for y < min(untold, T) + t
 *                     - ln(1 - u^c) / c              for y < T + t, u = 1 - exp(-Q l min(m, s))
 *                     - Q min(m, N (T + t - y) / t) ln(1 - q^2)  for y < T + t
 *
 * with w = min(m, N), c = `circle`, and Poisson(a; j) the probability of at most j. It is
 * summed over all that is under way in a round.
 *
 * The rounds of a chain that are delayed by more than y are binomial, and the C chains wait for
 * each other at the end only. With F(k; y) for at most k of its R rounds
 *
 *     E = integral over y > 0 of sum over k = 1..R of 1 - F(k-1; y)^C.
 *
 * It is exact for R = 1, and where all delays are equal (m << N); else a little too much, because
 * it takes the slowest chain at every y. Left out: a repetition that waits in a queue; congestion
 * control; losses of ACKs; and that after the last collective of all there is no next message.
 *
 * Worked case: two NICs at 1,000 km, all-reduce over 8 such pairs: C = 16 chains of R = 2 rounds,
 * t = 10 ms, Q = 16 queue pairs with m = 512 packets, N = 7,500, q = 1e-5. A round is delayed with
 * p = 1 - exp(-16 x 512 x 1e-5) = 0.079; the slowest chain by (1 - (1-p)^32) + (1 - (1-p^2)^16) =
 * 0.93 + 0.095 = 1.02 round trips of 0.97 t on average: 9.9 ms.
 */
double LossDelay(const LossyChains& chains);

} // namespace scaleacross

#endif // SCALEACROSS_LOSS_DELAY_H
