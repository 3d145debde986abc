// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_HELPER_H
#define SCALEACROSS_COLLECTIVE_HELPER_H

#include "core/spec/collective-spec.h"
#include "core/spec/collective-words.h"
#include "rdma-nic-container.h"

#include "ns3/application-container.h"
#include "ns3/callback.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class FabricHelper;

/**
 * A collective among NICs: all-reduce, all-gather, reduce-scatter, all-to-all, or every member to
 * the next (sendrecv).
 *
 * \code
 *   CollectiveHelper allReduce("all_reduce", 64 << 20);
 *   allReduce.SetCompletionCallback(MakeCallback(&Done)); // void Done(uint32_t, Time)
 *   ApplicationContainer members = allReduce.Install(fabric, fabric.Nics());
 *   members.Start(MilliSeconds(1));
 * \endcode
 *
 * The steps are those of studies (scaleacross::BuildCollectiveGraph, Lower). A ring all-reduce of S
 * bytes among n members, in the order of the container: 2 (n-1) messages of S/n from each member to
 * the next one, of which each but the first leaves when the one before has come in from the other
 * side. All messages go from NIC to NIC, those between two NICs of a server too.
 *
 * Members may begin at different times; a message that comes early is kept. The Stop of a member
 * does not end a collective under way, nor keep it from further repetitions.
 */
class CollectiveHelper
{
  public:
    /// A repetition, from 0, and the time from when the first member began it to when the last one
    /// was through.
    using CompletionCallback = Callback<void, uint32_t, Time>;

    /**
     * `operation`: all_reduce, all_gather, reduce_scatter, all_to_all or sendrecv. `bytes`: S, the
     * whole buffer; all_to_all and sendrecv: what each member holds. Throws ConfigError for another
     * word, and for 0 bytes.
     */
    CollectiveHelper(const std::string& operation, uint64_t bytes);

    /// ring (unless set), bidirectional-ring, hierarchical, halving-doubling or tree: see
    /// doc/collectives.md. Throws ConfigError for another word.
    void SetAlgorithm(const std::string& algorithm);
    /// How often, one after the other without a barrier; 1 unless set. As all that is set here, for
    /// what is installed from then on.
    void SetRepetitions(uint32_t repetitions);
    /// Cuts the buffer into equal parts of so many bytes at most, which go through the phases of a
    /// collective one behind the other; 0, the default: whole.
    void SetChunkSize(uint64_t bytes);
    /// Called when all members of what is installed from now on are through with a repetition.
    void SetCompletionCallback(CompletionCallback callback);

    /**
     * An application on the node of every NIC, in their order, each a CollectiveApplication, that
     * does its part from its start on. The fabric has to live as long as the run; its routes are
     * installed. Connections are made when first needed, with the attributes that the fabric gives
     * now, and are labelled by the operation unless RdmaConnection::Label has been set.
     *
     * If a connection fails the run ends with a scaleacross::RunError that has the reason.
     *
     * Throws ConfigError for less than two NICs, or one that is there twice.
     */
    ApplicationContainer Install(FabricHelper& fabric, const RdmaNicContainer& nics) const;

    /**
     * The same over buildings, which `hierarchical` and other algorithms of levels tell apart:
     * first inside, then across, then inside again. Levels are of blocks of the greatest common
     * divisor of the containers' sizes: with 4 and 8 NICs, three blocks of 4; with 3 and 4, blocks
     * of one, which is a flat ring.
     */
    ApplicationContainer Install(FabricHelper& fabric,
                                 const std::vector<RdmaNicContainer>& buildings) const;

    /// A collective draws nothing at random, so that no stream is used: returns 0.
    static int64_t AssignStreams(const ApplicationContainer& members, int64_t stream);

  private:
    scaleacross::CollectiveSpec m_spec;
    scaleacross::CollectiveAlgorithm m_algorithm{"ring"};
    uint64_t m_chunk{0};
    uint32_t m_repetitions{1};
    CompletionCallback m_completion;
};

} // namespace ns3

#endif // SCALEACROSS_COLLECTIVE_HELPER_H
