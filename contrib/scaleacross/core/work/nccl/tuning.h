// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_TUNING_H
#define SCALEACROSS_NCCL_TUNING_H

#include "core/base/units.h"
#include "core/spec/collective-spec.h"
#include "core/spec/nccl-words.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/// What NCCL knows of the GPUs of a communicator, and how they are joined.
struct NcclMachine
{
    Architecture architecture;
    uint32_t ranks{1};
    uint32_t servers{1};      //!< scale-up networks; divides the ranks
    double linkRate{0};       //!< of a GPU into its scale-up network, as NCCL has it, GB/s
    double nicRate{0};        //!< of the NICs of a GPU, or its share of one, GB/s
    double nicsPerGpu{1};     //!< whose rate that is
    bool reduces{false};      //!< the scale-up network does
    bool collnet{false};      //!< the switches between its servers do
    uint32_t mostChannels{0}; //!< 0: as many as NCCL takes

    uint32_t PerServer() const
    {
        return ranks / servers;
    }
};

/**
 * The channels of an algorithm: rings, or trees, side by side.
 *
 * NCCL tries rates from high to low until channels of that rate fill the links or the NICs, and
 * then cuts fast ones in two.
 */
struct NcclChannels
{
    uint32_t count{0};
    double inside{0};  //!< rate of each inside servers, GB/s
    double between{0}; //!< rate of each between servers, GB/s
};

NcclChannels ChannelsOf(const NcclMachine& machine, NcclKind kind);

/// What NCCL takes for a collective, or would.
struct NcclChoice
{
    NcclKind kind{NcclKind::Ring};
    NcclProtocol protocol;
    uint32_t channels{1};
    uint32_t unbounded{1}; //!< channels without NcclMachine::mostChannels
    double latencyUs{0};
    double algbw{0}; //!< GB/s
    double us{0};    //!< by NCCL's model
};

/**
 * NCCL's model of time, by the constants of its release 2.30.7 (src/graph/tuning.cc):
 *
 *     t = latency + S / bandwidth
 *
 * with the latency of a ring base + (steps inside) x inside + (steps between) x between, of a tree
 * base + 2 ((g - 1) x inside + floor(log2 N) x between), of NVLS one step inside and, over several
 * servers, one between, of its tree inside + 2 floor(log2 N) x between, of CollNet 2 (g - 1) x
 * inside (chains) or 2 (inside + 0.4 us (g - 1)) (direct) and one step between, and of PAT
 * floor(log2 N) x between / 3.5 + 2.8 us n, for n ranks in N servers of g. Bandwidths are channels
 * x rate, less what flags take, and no more than was measured by channel. Trees of medium size are
 * corrected by a table.
 *
 * Nothing if NCCL does not run it so: NVLS asks for a scale-up network that reduces and more than
 * four GPUs, its tree, CollNet and PAT for several servers, CollNet for eight GPUs in each at most,
 * and, as NVLS over several servers, for switches between them that reduce, PAT for one GPU in
 * each, and all but rings and PAT for an all-reduce.
 *
 * @param bytes S, the largest buffer of a rank.
 */
std::optional<NcclChoice> NcclTime(const NcclMachine& machine,
                                   CollectiveOp op,
                                   Bytes bytes,
                                   NcclKind kind,
                                   NcclProtocol protocol);

/// The fastest by that model of what the words allow. An algorithm holds for the operations and
/// groups that NCCL has it for, others are as with `auto`; likewise a protocol with an algorithm.
/// Domain: two ranks or more.
NcclChoice NcclChoose(const NcclMachine& machine,
                      CollectiveOp op,
                      Bytes bytes,
                      NcclAlgorithm algorithm,
                      NcclProtocol protocol);

/// Latency of a step by NCCL's table: inside a server, and between two.
struct NcclStep
{
    Duration inside;
    Duration between;
};

NcclStep NcclStepOf(NcclKind kind, NcclProtocol protocol);

/// What a collective takes before its first step, by NCCL's table.
Duration NcclBase(NcclKind kind, NcclProtocol protocol);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_TUNING_H
