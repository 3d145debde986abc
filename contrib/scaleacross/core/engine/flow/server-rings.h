// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SERVER_RINGS_H
#define SCALEACROSS_SERVER_RINGS_H

#include "core/engine/flow/flow-clock.h"
#include "core/engine/flow/symmetry.h"
#include "core/program/rank-replay.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Rings of collectives inside a server, as one event of each member where nothing else is on the
 * members' egress: most of the messages of a job with tensor parallelism.
 *
 * With E(i) the time at which member i enters, D the time of a message at its egress and L its
 * latency, message k of member i leaves at
 *
 *     start(i, k) = max(post(i, k), end(i, k - 1)),   post(i, 0) = E(i),
 *     post(i, k) = max(E(i), end(i - 1, k - 1) + L),  end(i, k) = start(i, k) + D,
 *
 * and the member is through when message n - 2 of the one before it has come. All of that is known
 * when the last member enters, before which none can be through.
 *
 * Whatever else comes to the egress of a member before has its ring go on message by message, from
 * where it is by these equations. Ingress limits nothing inside a server.
 *
 * Worked case: 4 members enter at 0; D = 10 us, L = 1 us: all are through at 33 us. With member 1
 * entering at 5 us its messages begin at 5, 15 and 25 us, and so member 2 is through at 36 us.
 */
class ServerRings
{
  public:
    /// Whose ranks and egress these are.
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /// Whether messages of the rank to others on its server are under way, apart from rings.
        virtual bool IsSendingInside(Rank rank) const = 0;

        virtual void PhaseOver(Rank rank, uint32_t stream) = 0;
        virtual void GoOnWithPhase(Rank rank,
                                   uint32_t stream,
                                   uint32_t sent,
                                   uint32_t received) = 0;

        /// Sends a message inside the server of which this share is left.
        virtual void SendRest(Rank from,
                              Rank to,
                              Bytes bytes,
                              double left,
                              uint64_t tag,
                              const MessageCare& care) = 0;

        virtual void DeliverAt(Duration at, Rank to, uint64_t tag) = 0;
    };

    /// All have to outlive it.
    ServerRings(const Scenario& scenario, const Symmetry& symmetry, FlowClock& clock, Owner& owner);

    /// Whether it carries out a phase that begins on a rank (RankWorld::TakesPhase).
    bool Takes(Rank rank, const PhaseStart& start);

    /// Something else is about to leave from a rank to its server.
    void Disturb(Rank rank);

    /// Adds what has left each rank up to now to `out`, and what has come to it to `in`.
    void AddCarried(std::vector<double>& out, std::vector<double>& in) const;

  private:
    /// The group of a phase that a rank is in.
    struct Group
    {
        bool fits{false};
        uint32_t index{0};         //!< of the rank
        Rank next{0};              //!< to whom it sends
        std::vector<Rank> members; //!< who stands for each
        std::vector<Rank> kinds;   //!< the same, each once
    };

    /// What a rank has under way; until it is through with it, and its last message has left.
    struct Ring
    {
        bool isThere{false};
        bool isOver{false};
        PhaseStart start;
        const Group* group{nullptr};
        uint32_t generation{0};
        int64_t entered{0};            //!< ps
        std::vector<int64_t> ends;     //!< of its messages, where all have entered
        std::vector<int64_t> arrivals; //!< of those that come to it
    };

    const Group& GroupOf(Rank rank, const Phase& phase);
    bool IsIn(Rank rank, uint64_t tag) const;
    int64_t TimeOf(Rank rank, const Phase& phase, Bytes bytes) const;
    int64_t LatencyOf(Rank rank, const Phase& phase, Bytes bytes) const;
    void Trace(Rank rank, std::vector<int64_t>& ends, std::vector<int64_t>& arrivals) const;
    void Schedule(Rank rank);
    void Over(Rank rank, uint32_t generation);
    void Retire(Rank rank);
    void Leave(Rank rank, double carried);
    void RestoreAll(const Group& group, uint64_t tag);
    void Restore(Rank rank, const std::vector<Rank>& together);
    static int64_t PostOf(const Ring& ring, const std::vector<int64_t>& arrivals, uint32_t k);
    double LeftOf(const Ring& ring,
                  const std::vector<int64_t>& ends,
                  const std::vector<int64_t>& arrivals,
                  uint32_t k) const;
    double CarriedBy(const Ring& ring,
                     const std::vector<int64_t>& ends,
                     const std::vector<int64_t>& arrivals) const;

    const Symmetry& m_symmetry;
    FlowClock& m_clock;
    Owner& m_owner;
    uint32_t m_gpusPerNode;
    std::vector<const GpuSpec*> m_gpus; //!< by rank
    std::vector<Ring> m_rings;          //!< by rank
    std::vector<double> m_out;          //!< bytes of rings that are over, by rank
    std::vector<double> m_in;

    struct KeyHash
    {
        size_t operator()(const std::pair<const Phase*, Rank>& key) const
        {
            return reinterpret_cast<uintptr_t>(key.first) * 0x9e3779b97f4a7c15ULL + key.second;
        }
    };

    std::unordered_map<std::pair<const Phase*, Rank>, Group, KeyHash> m_groups;
    std::set<std::pair<Rank, uint64_t>> m_broken; //!< who has still to enter, and by itself
    mutable std::vector<int64_t> m_end;           //!< scratch, by member
    mutable std::vector<int64_t> m_come;
    mutable std::vector<int64_t> m_comeNow;
};

} // namespace scaleacross

#endif // SCALEACROSS_SERVER_RINGS_H
