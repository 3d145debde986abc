// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEST_RANDOM_FABRIC_H
#define SCALEACROSS_TEST_RANDOM_FABRIC_H

#include "look-ahead-runs.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * Fabrics, traffic and scripts that follow from a seed and use everything that there is: every
 * attribute of every type of the module (AttributeLottery), every transport, congestion control,
 * path selector, entropy and loss model; connections and messages at time zero, at random times, in
 * callbacks; receives that are posted late; packets of other stacks; failures; changes by hand.
 */
namespace randomfabric
{

/// What a run of one fabric showed.
struct Result
{
    lookahead::Outcome outcome;
    uint32_t refused{0};                   //!< draws that were refused before one was accepted
    uint64_t messages{0};                  //!< posted, packets of other stacks included
    uint64_t packets{0};                   //!< of data, started by NICs
    std::string drawn;                     //!< all that is not as it is by default
    std::vector<std::string> violations;   //!< of physics, each with its values
    std::map<std::string, uint32_t> types; //!< how often connections had them, in use
};

/**
 * Builds the fabric of a seed, carries it out with an engine until its end, and checks, whatever
 * the engine, that nothing arrives before it can: propagation, serialisation at every hop, the line
 * and the RateLimit of the sender, from the time of posting. With `watched` also that no port
 * starts a packet before the one before has left at the rate of the wire, so that no wire moves
 * more bytes than its rate times the time.
 *
 * A draw that is refused with a ConfigError is drawn again, from numbers that follow from the seed.
 */
Result Run(uint32_t seed, const lookahead::Engine& engine, bool watched);

} // namespace randomfabric

#endif // SCALEACROSS_TEST_RANDOM_FABRIC_H
