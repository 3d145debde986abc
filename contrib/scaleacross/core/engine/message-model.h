// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MESSAGE_MODEL_H
#define SCALEACROSS_MESSAGE_MODEL_H

#include "core/engine/loss-delay.h"
#include "core/engine/queue-pair-spread.h"
#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"
#include "core/program/step-pattern.h"
#include "core/spec/scenario.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>

namespace scaleacross
{

/**
 * What one connection makes of messages: bytes on the wire, how they are spread over queue pairs
 * and ports, latency, what windows and grants allow, and what may be lost. Who shares links with
 * whom plays no part; see NetworkModel for that, and for the equations.
 */
class MessageModel
{
  public:
    /// Both have to outlive it.
    MessageModel(const Scenario& scenario, const ClusterPaths& paths);

    /// SpreadOver() the queue pairs of a tier.
    QueuePairSpread SpreadOf(double messages, double messageBytes, Tier tier) const;

    /// Queue pairs of a connection between GPUs of a tier.
    uint32_t QueuePairsAt(Tier tier) const
    {
        return m_scenario.network.QueuePairsAt(tier).qps;
    }

    /// Payload and headers of `messages` messages of `bytes` payload each, of which `spread` is.
    double DataBytes(double messages, double bytes, const QueuePairSpread& spread) const;

    /// The same with the share of an ACK.
    double WireBytes(double messages, double bytes, const QueuePairSpread& spread) const;

    /// Time of a message at its NIC, by the rate of the ports that it uses.
    double PortSeconds(BitRate nic, double messageBytes, const QueuePairSpread& spread) const;

    /// Of the first packet of a message, but for its time on the slowest link; with what the
    /// balance, admission and staging add.
    Duration EdgeLatency(const FabricPath& path, double bytes) const;

    /// The same with what a step of a collective costs its sender.
    Duration StepLatency(const Phase& phase, const FabricPath& path, double bytes) const;

    /// Time of a message by what its connection may have outstanding and its queue pairs'
    /// windows; 0 without such a limit.
    double WindowSeconds(double messageBytes, const FabricPath& path) const;

    /// Returns what `messages` messages of a connection take of what it may have under way:
    /// outstanding segments, its queue pairs' windows or slots of staged copies, whichever holds
    /// back most. Each has `bytes` of payload (0 < write <= bytes), is written in pieces of `write`
    /// bytes, and moves in `seconds`; `path` is the connection's.
    WindowUse WindowOf(double messages,
                       double bytes,
                       double write,
                       double seconds,
                       const FabricPath& path) const;

    /// Returns what messages of `bytes` of payload each to one NIC, over `path`, take of what that
    /// grants; no window without `network.admission`.
    WindowUse AdmissionOf(double messages, double bytes, const FabricPath& path) const;

    /**
     * What the messages of a pair of members in a phase ask of its slots; nothing without any.
     *
     * A slot is free again a round trip after its piece is sent. Pieces that are posted together,
     * those of a message and messages that wait for none, take turns on the queue pairs of their
     * connection, and leave as the last of them does; so do those of other connections that a
     * member has in a tree.
     *
     * Phases that follow each other through the same slots begin with what those before them have
     * under way. k of them, with m messages of s slots in W slots each and round trips of R, take
     * (ceil(k m s / W) - 1) R and once the way, which each of them has in its latency.
     */
    SlotUse SlotsOf(const Phase& phase,
                    const PhaseRounds& rounds,
                    BitRate nic,
                    const FabricPath& path) const;

    /// Time of bytes to one NIC by what that grants; 0 without such a limit.
    double AdmissionSeconds(double bytes, const FabricPath& path) const;

    /// What copying through slots adds to the time of a message; 0 without that.
    Duration StagingTime(Bytes bytes) const;

    /// Share of a link's rate that credits allow; 1 without them. `lanes`: virtual lanes that share
    /// what is sent, each with credits of its own.
    double CreditShareOf(BitRate link, Duration delay, uint32_t lanes = 1) const;

    /// Messages of `bytes` that may be lost on a path, in a round whose volume takes `seconds`; the
    /// next round begins `nextAfter` seconds after it.
    LossyMessages LossyOf(const FabricPath& path,
                          double bytes,
                          double seconds,
                          double nextAfter) const;

  private:
    /// WireBytes of a part of a message.
    double WireBytesOf(double bytes, Tier tier) const;

    /// Data packets of a message; `least`: where its parts are the smaller ones.
    double PacketsOf(double bytes, const QueuePairSpread& spread, bool least) const;

    /// Seconds from when `unit` bytes leave to when what tells of their arrival is back; `staging`
    /// passes besides.
    double RoundTrip(double unit, const FabricPath& path, double staging = 0) const;

    /// Time of `bytes` of which no more than `window` may be under way; `unit` bytes are
    /// acknowledged at a time. 0 if they are no more than the window. The window is taken for empty
    /// at the beginning; behind a message whose last bytes are still under way it is not.
    /// `staging` passes in every round trip besides.
    double WindowedSeconds(double bytes,
                           double window,
                           double unit,
                           const FabricPath& path,
                           double staging = 0) const;

    const Scenario& m_scenario;
    const ClusterPaths& m_paths;
};

} // namespace scaleacross

#endif // SCALEACROSS_MESSAGE_MODEL_H
