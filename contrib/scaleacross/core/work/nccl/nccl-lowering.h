// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_LOWERING_H
#define SCALEACROSS_NCCL_LOWERING_H

#include "core/program/collective.h"
#include "core/spec/collective-spec.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/nccl/tuning.h"

namespace scaleacross
{

/// What of a scenario NCCL's collectives depend on: the slowest of all buildings.
struct NcclRules
{
    Architecture architecture;
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    uint32_t mostChannels{0};
    double scaleUpRate{0};    //!< of a GPU that collectives reach, B/s
    double scaleUpNominal{0}; //!< of a GPU by its data sheet, B/s
    double nicRate{0};        //!< of a GPU, B/s
    double nicNominal{0};     //!< the same by data sheets, B/s
    double nicsPerGpu{1};     //!< whose rate that is
    double switchShare{0};    //!< of scaleUpRate that reductions in the switch reach; 0: none
    bool collnet{false};      //!< switches inside buildings reduce
    Duration netStep;         //!< beyond NCCL's table
    Duration netLong;         //!< likewise, of a tree of 4 KiB and more
    double netFill{0};        //!< at which up to 2 MiB enter the network's plugin, B/s; 0: at once
    double netFlags{0};       //!< the same of up to 128 KiB that have flags in them
    Duration netMessage;      //!< of an all-to-all's message to another server, beyond eight
    Duration netInject;       //!< likewise, of any that has 192 B at most
};

NcclRules NcclRulesOf(const Scenario& scenario);

/// What NCCL sees of a group: NcclMachine by a layout.
NcclMachine MachineOf(const NcclRules& rules, const RankGroup& group, const RankLayout& layout);

/**
 * Writes a collective as NCCL runs it, by the algorithm, protocol and channels of NcclChoose().
 *
 * - Ring: a ring inside one server; over several one in each position of a server (Phase, lanes).
 *   All-reduce goes round twice. One server, or one GPU in each: a plain ring.
 * - Tree: a reduce-scatter inside each server, both trees between equal positions, an all-gather
 *   inside. NCCL has chains inside, of as many steps and bytes.
 * - NVLS: everybody's parts to all, added up by the switch, and copies back. Its tree: the same
 *   inside each server, with both trees between.
 * - CollNet: the same phases as a tree, or as messages to all inside each server, or by NVLS; and
 *   between servers switches reduce. A member sends its buffer up a tree of switches and receives
 *   the sum. That is written as one message to the next server: on every link up and down such a
 *   tree of a Clos fabric one buffer passes either way, and on the way from one member to the next,
 *   round the servers in the order of leaves, it is the same links and the same buffers, over as
 *   many hops as the longest way has. But a member waits for the one before it, not for all.
 * - PAT: the rounds of a dissemination.
 * - All-to-all: a message to everybody; send-receive one to the next.
 *
 * Where there are several phases, chunks stream through them: of up to 1 MiB per GPU, or of as many
 * whole MiB as make it 32 of them at most; four are in a phase inside servers at a time, and four
 * times as many on the trees, whose levels have some each.
 *
 * Flags make messages longer. A step takes what NCCL's table says for one inside a server. Between
 * servers the way takes what the network says, and the sender what the network's plugin does
 * (`network.nccl_net_step` and its neighbours) and what the table has for the protocol beyond a
 * ring's LL step, whose flags wait for nothing: 11.3 us for Simple. Where NCCL's table limits the
 * bandwidth of channels, steps take so much longer by byte. What measured machines add, by the
 * table of tests/validation/collectives (doc/collectives.md has the fit):
 *
 * - Rings through g GPUs of a server load its links (g + 1) / g times: what enters and what leaves
 *   goes to the GPU of the NIC and from it (PXN); those of RCCL (g - 1) / g times.
 * - The switch works on loops of channels x heads x chunk, chunk by NCCL's rule of sizes, of which
 *   two pass before the first is done.
 * - Of a ring's messages to the next server a connection has so many under way as it has slots
 *   (SlotWindow). Of those beyond, proxies pass on one in the time of a step between servers: it is
 *   only as long after one has left that its slot is posted again. Nothing is fitted in that.
 * - Messages to all reach 0.93 of the rate, and each peer takes 2 us at the start; those on other
 *   servers besides what the plugin says (`network.nccl_net_message`, `nccl_net_inject`).
 * - A single message between servers takes 30 ps a byte longer, what slots and proxies cost.
 *
 * Domain: a group of two members or more.
 */
Collective LowerByNccl(CollectiveOp op,
                       CommClass comm,
                       Bytes bytes,
                       const RankGroup& group,
                       const RankLayout& layout,
                       const NcclRules& rules);

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_LOWERING_H
