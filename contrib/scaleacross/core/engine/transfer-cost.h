// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRANSFER_COST_H
#define SCALEACROSS_TRANSFER_COST_H

#include "core/base/units.h"
#include "core/engine/loss-delay.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What a rank has for itself on the way of a transfer; links are full duplex.
enum class Port : uint8_t
{
    ScaleUpOut,
    ScaleUpIn,
    NicOut,
    NicIn
};

constexpr uint32_t kPorts = 4;

constexpr bool
IsIncoming(Port port)
{
    return port == Port::ScaleUpIn || port == Port::NicIn;
}

constexpr bool
IsNic(Port port)
{
    return port == Port::NicOut || port == Port::NicIn;
}

/**
 * What a transfer asks of a cut: parallel links that ranks share, in one direction.
 *
 * Hashed flows collide on the links, the more so the fewer there are: one flow takes the rate of
 * one link at most, though that is a small part of the cut. So `seconds` is what holds the transfer
 * back if nobody else is there, by the collisions of its own flows, and `demand` what it takes from
 * the others, by the collisions of all that may be there at once.
 */
struct CutUse
{
    uint32_t cut{0};
    double seconds{0}; //!< > 0, if all flows of the stage have the cut to themselves
    double demand{0};  //!< > 0, its part of the cut's time where others are there
    double flows{0};   //!< connections of the stage across it; less than one: on some switches only
    double pairs{1};   //!< queue pairs of each on a port of the NICs
    uint32_t links{1}; //!< that are parallel for one port
    double wire{0};    //!< seconds of what is on the wire, without collisions
    double bytes{0};   //!< payload and headers, of all flows
    double detours{0}; //!< of these, what other ways could keep away
};

/**
 * How the slots of a pair of members hold back what is sent through them.
 *
 * P pieces in W slots, of which each is free again R seconds after it was taken, leave in ceil(P /
 * W) rounds, the last one as long as its pieces take to send.
 */
struct SlotUse
{
    double pieces{0};  //!< of all phases that follow each other through the slots
    double slots{1};   //!< W
    double round{0};   //!< R
    double seconds{0}; //!< of a piece, by the rate of its NIC
    double phases{1};  //!< that follow each other through the slots
    double way{0};     //!< seconds that each of these phases has in its latency besides

    /// From the first piece of a phase to the end of the last, of so many times its pieces; 0 where
    /// there are as many slots as pieces.
    double Seconds(double times = 1) const;

    /// Of a chunk, in the mean over many.
    double Share() const
    {
        return Pieces() / slots * round;
    }

    /// Of a phase.
    double Pieces() const
    {
        return pieces / phases;
    }
};

/**
 * What a transfer takes of what its connection may have under way.
 *
 * A window is what may be sent before something of it has come back. Messages that follow each
 * other on a connection share it, so that k windows of them leave in (k - 1) round trips at least.
 */
struct WindowUse
{
    double windows{0}; //!< that the transfer fills, parts of one included; 0: there is no limit
    double round{0};   //!< seconds after which what has left is back
    double share{1};   //!< of transfers that follow each other, those that take this connection
    Duration last{};   //!< of the latency, what is behind the last window

    /// Seconds of round trips, in the mean of so many transfers that follow each other.
    double Seconds(uint32_t times = 1) const
    {
        return windows * share * times * round;
    }

    /// Seconds before the last of it leaves, on a connection that has nothing under way.
    double LeastSeconds() const
    {
        return std::max(0.0, windows - 1) * round;
    }
};

/**
 * What a transfer asks of the network when all ranks of a stage do it at the same time.
 *
 * It is a volume followed by a latency. The volume moves no faster than each port on its way lets
 * it, each cut, and whatever else holds it back without being shared.
 */
struct TransferCost
{
    std::array<double, kPorts> ports{}; //!< seconds of each port, by Port
    /// Payload and headers of the busiest rank; of chunks, as that of cuts, in the mean.
    std::array<double, kPorts> portBytes{};
    double least{0}; //!< seconds that windows, or slower NICs elsewhere, ask for
    /// Seconds by which a correction holds it back besides, whoever else is there: members of it
    /// queue at cuts as they do without (FluidNetwork).
    double extra{0};
    std::vector<CutUse> cuts; //!< by cut, ascending
    Duration latency;
    WindowUse window;    //!< of the connection that it holds back most
    WindowUse admission; //!< of what the receiver grants to all that send to it
    SlotUse slots;       //!< of the pair that waits longest; all chunks of a collective share them
    /// What may delay it beyond the latency; whoever uses the cost adds LossDelay() once for all
    /// phases that the same chains go through.
    LossyChains losses;

    double& On(Port port)
    {
        return ports[static_cast<size_t>(port)];
    }

    double On(Port port) const
    {
        return ports[static_cast<size_t>(port)];
    }

    /// Seconds of the sender's port that a transfer is of: the NIC if it leaves the server.
    double OutSeconds() const;

    /// Seconds of the volume for a rank that shares nothing, without `extra`.
    double PortSeconds() const;

    /// The latency behind a volume of `seconds` that windows hold back for `held` seconds: whoever
    /// waits for them waits for what comes from further away as well.
    Duration LatencyBehind(double held, double seconds) const;

    /// Seconds of what is on the ports and the tightest cut: the volume if nothing else holds it
    /// back.
    double MovingSeconds() const;

    /// The cut that holds it back most; null: none is on the way.
    const CutUse* Tightest() const;

    /// Seconds of the tightest cut; 0: none is on the way.
    double CutSeconds() const;

    /// Seconds of the volume with ports and cuts to itself.
    double Seconds() const;

    /// Duration with ports and cuts to itself.
    Duration Alone() const;

    /**
     * Makes it take `factor` times as long with ports and cuts to itself, where that is possible:
     * ports and wires carry what they carry, so that of a shorter time only what waits, collides
     * or is held back otherwise can be left out. A longer time holds back this transfer alone and
     * takes nothing more from others; what makes it longer is `extra`, so that a factor next to 1
     * is next to none. Domain: factor > 0.
     */
    void Stretch(double factor);
};

} // namespace scaleacross

#endif // SCALEACROSS_TRANSFER_COST_H
