// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_PLAN_H
#define SCALEACROSS_NETWORK_PLAN_H

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "core/base/units.h"
#include "core/spec/collective-words.h"
#include "core/spec/congestion-control.h"
#include "core/spec/connection-words.h"
#include "core/spec/multipath.h"
#include "core/spec/nccl-words.h"
#include "core/spec/tier.h"
#include "core/spec/traffic-classes.h"
#include "core/spec/transport.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace scaleacross
{

/// How the connections between GPUs of one tier use their queue pairs.
struct QueuePairUse
{
    uint32_t qps;
    Bytes segment;
    Balance balance;
    uint32_t outstanding;
    Bytes window;
    Bytes mtu;
};

/// What differs from that for a tier.
struct QueuePairOverride
{
    std::optional<uint32_t> qps;
    std::optional<Bytes> segment;
    std::optional<Balance> balance;
    std::optional<uint32_t> outstanding;
    std::optional<Bytes> window;
};

/**
 * What copying through slots costs, by default as in NCCL: 8 slots of 512 KiB for each channel and
 * pair of NICs (its buffer of 4 MiB in 8 steps).
 *
 * A slot is copied once at either end, which reads and writes the GPU's memory, and handed over
 * between GPU and NIC at either end. That takes 6.9 us together, what NCCL's table of latencies has
 * for a step over the network in which data wait for a flag (9.6 us, Simple) over one in which
 * flags travel with the data (2.7 us, LL). A slot is free for other bytes when the receiver has
 * told that it is empty, so that no more than the slots hold is under way on a round trip.
 */
struct StagedCopy
{
    static constexpr Bytes kSlot{512 << 10};
    static constexpr uint32_t kSlots = 8;                              //!< of a channel
    static constexpr Duration kHandover = Duration::Nanoseconds(6900); //!< of a slot, both ends

    /// Time of a copy within a GPU's memory.
    static Duration CopyTime(Bytes bytes, BitRate memory);
};

/// How the network is used. Every field has a default that a study can leave out.
struct NetworkPlan
{
    Transport transport;
    Multipath multipath;
    CongestionControl control;
    /// Spraying needs selective repeat: to go-back-N every packet that overtakes means a loss.
    Recovery recovery;
    /// Selective repeat where packets may overtake (flowlets, spraying): packets of a queue pair
    /// that may overtake one before it counts as lost. At least the difference in delay between
    /// paths, in packets; a loss at the end of a message costs a timeout up to this far before it.
    uint32_t reorderTolerance{256};
    /// Queue pairs a connection is spread over. More spread collisions; Llama 3 used 16.
    uint32_t qps{16};
    /// Bytes after which a message goes on with the next queue pair; shorter ones use one only.
    /// NCCLX's queue pair balancing uses 512 KiB.
    Bytes segment{512ULL << 10};
    Balance balance;
    /// Segments that a queue pair may have sent and not acknowledged; 0 is any number. With qps and
    /// segment it limits what is under way, hence buffers; NCCLX has 128.
    uint32_t outstanding{0};
    /// Payload that a queue pair may have sent and not acknowledged, in whole packets; 0 is any
    /// amount. A congestion control may allow less.
    Bytes window;
    /// Payload that all senders together may have under way to a NIC, which grants it to them in
    /// turn; 0: they do not ask.
    Bytes admission;
    /// How long a queue pair sends before the next one of its NIC and traffic class does.
    QpScheduler qpScheduler;
    /// With bursts: bytes on the wire that end a turn, in whole packets. NICs do not publish
    /// theirs.
    Bytes qpBurst{16ULL << 10};
    /// By Tier from Leaf on: near peers may have few queue pairs, far ones need many in flight.
    std::array<QueuePairOverride, 4> tiers;
    /// What goes before what, or how it shares, on links between servers.
    TrafficClasses classes;
    CollectiveAlgorithm collective;
    AllToAllAlgorithm allToAll;
    /// Collectives are cut into chunks of this size, which are in different phases at the same time
    /// (inside a building, across); every chunk has the latency of its steps. 0: see channels.
    Bytes collectiveChunk;
    /// Chunks of a collective that may be in the same phase at the same time. With more than one
    /// and no chunk given, chunks are as NCCLX has them: as many of each member's part as channels,
    /// of 16 MiB at most, and of 32 MiB at most at a time.
    uint32_t channels{1};
    // With the collective `nccl`.
    NcclAlgorithm ncclAlgorithm;
    NcclProtocol ncclProtocol;
    uint32_t ncclChannels{0}; //!< at most; 0: as many as NCCL takes
    bool ncclCollnet{false};  //!< switches of a building reduce for NCCL (SHARP)
    /// Of a step between servers, what the network's plugin and proxies take beyond NCCL's table.
    Duration ncclNetStep{Duration::Nanoseconds(3000)};
    /// The same once more for trees of 4 KiB and more: plugins send that otherwise.
    Duration ncclNetLong;
    /// At which the first 2 MiB that a GPU sends in a step enter the plugin before any of it
    /// leaves; 0: at once.
    BitRate ncclNetFill;
    /// The same where flags travel with the data, of the first 128 KiB.
    BitRate ncclNetFlags;
    /// Of an all-to-all's message to another server beyond those that are posted at once, what the
    /// network's plugin and proxies take, one after another.
    Duration ncclNetMessage;
    /// Of such a message of up to 192 B, what the host takes to copy it out of GPU memory.
    Duration ncclNetInject;
    // With an all-to-all by kernels that send tokens.
    /// Beyond the kernel's start, what it takes until tokens leave for other servers: by proxies.
    Duration tokenStart;
    /// Low latency: of a message for another server, what who posts it takes; they take turns.
    Duration tokenMessage;
    Copy copy;                    //!< between servers
    Bytes mtu{4096};              //!< payload of a full packet, 256 to 9000
    std::optional<Bytes> headers; //!< see Format()
    std::optional<Bytes> ackSize; //!< see Format()
    uint32_t ackEvery{4}; //!< data packets per ACK; a message's last packet is always acknowledged
    std::optional<bool> pfc; //!< see UsesPfc()
    /// With InfiniBand: what may be under way on one lane of a wire without having been granted
    /// anew. 128 KiB is what the standard's 12 bits of 64-byte blocks allow; more stands for
    /// devices that extend the reach.
    Bytes laneCredits{128ULL << 10};
    Bytes leafBuffer{64ULL << 20};   //!< shared packet buffer of a leaf switch
    Bytes spineBuffer{256ULL << 20}; //!< shared packet buffer of a spine; long links need depth
    static constexpr uint32_t kMostTimeoutExponent = 31;
    uint32_t timeoutExponent{14}; //!< retransmission timeout 4.096 us x 2^n
    uint32_t retries{7};          //!< timeouts in a row before the QP goes into error
    /// How long a link has to be down, or back, until the switches at its ends act on it.
    Duration detection{Duration::Microseconds(10)};
    /// From then until all switches have new tables.
    Duration convergence{Duration::Microseconds(1000)};
    bool keepAtDownPort{false}; //!< packets for a link that is down wait instead of being dropped
    /// ns-3 attributes ("ns3::TypeId::Attribute" -> value) that the packet engine sets.
    std::map<std::string, std::string> ns3Attributes;

    /// What packets take on the wire: as the transport has it, but for `headers` and `ackSize`
    /// where they are given; every data packet adds the same.
    PacketFormat Format() const;

    /// After which what is not acknowledged is sent again: 4.096 us x 2^timeoutExponent.
    Duration Timeout() const
    {
        return Duration::Nanoseconds(4096) * (int64_t{1} << timeoutExponent);
    }

    /// Lossless by priority flow control: `pfc` if given, else where the transport has pauses.
    bool UsesPfc() const;

    /// Payload that one grant of a receiver covers: 128 KiB, or `admission` if that is less.
    Bytes GrantSize() const;

    /// What holds between GPUs of a tier. Domain: not Tier::Node.
    QueuePairUse QueuePairsAt(Tier tier) const;

    /// Throws ConfigError (where = "network.<field>").
    void Validate() const;

    /// What Validate throws if fields that are right by themselves do not go together.
    std::optional<ConfigError> FindConflict() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_PLAN_H
