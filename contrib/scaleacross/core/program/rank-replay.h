// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_REPLAY_H
#define SCALEACROSS_RANK_REPLAY_H

#include "core/program/compute-clock.h"
#include "core/program/program.h"
#include "core/program/rank-message.h"
#include "core/program/rank-record.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace scaleacross
{

/// Time that a rank spent, by cause, since its start.
struct RankTimes
{
    Duration compute;
    Duration bubble; //!< waiting for a message that had not set out yet
    /// Waiting for communication under way, by CommClass.
    std::array<Duration, kCommClasses> exposed;
    /// With a collective of the class under way, or a pipeline message to the rank, by CommClass.
    std::array<Duration, kCommClasses> busy;
};

/// A phase that begins on a rank.
struct PhaseStart
{
    const Phase* whole{nullptr}; //!< as the task graph has it
    CommClass comm{};
    uint32_t stream{0};
    uint64_t tag{0}; //!< of its first message; others have the number added
};

/// All that a replay knows of what is around its rank: a clock, and a way to the others.
class RankWorld
{
  public:
    virtual ~RankWorld() = default;

    virtual Duration Now() const = 0;

    /// Calls RankReplay::ComputeDone() at that time, and no longer at one asked for before.
    virtual void ComputeUntil(Duration end) = 0;

    /// Calls RankReplay::Launched(stream) at that time.
    virtual void LaunchAt(Duration at, uint32_t stream) = 0;

    /// Posts a message; never blocks. Messages to one rank may arrive in another order than they
    /// were posted; the tag tells them apart.
    virtual void Send(Rank to, Bytes bytes, uint64_t tag, const MessageCare& care) = 0;

    /// Posts a message that the network inside the server copies. Domain: all on one server, one
    /// copy or more.
    virtual void SendCopies(const std::vector<MessageCopy>& copies,
                            Bytes bytes,
                            const MessageCare& care) = 0;

    /// Posts a credit of kCreditBytes, which does not wait behind any message.
    virtual void SendCredit(Rank to, uint64_t tag) = 0;

    /// Whether it carries out all that a phase has the rank do, of a collective in one chunk; it
    /// calls RankReplay::PhaseOver() at its end, or RankReplay::GoOnWithPhase() before. Members of
    /// a group may be answered differently.
    virtual bool TakesPhase(const PhaseStart& /* start */)
    {
        return false;
    }

    /// The first forward of an iteration begins.
    virtual void IterationBegins(uint32_t iteration) = 0;

    /// The rank has done all its iterations. Never of one that goes on until the run is stopped,
    /// nor of one that takes no part.
    virtual void Finished()
    {
    }
};

/**
 * One rank of a training job: replays its class program, iteration after iteration, in whatever
 * world there is. What ranks do and when is here; how long messages take is the world's.
 *
 * In a rendezvous a message leaves when its sender has the credit of its receive, and after those
 * to the same rank before it.
 *
 * Compute occupies the rank, sends and collectives run beside it, waits and receives stop it. A
 * collective is under way on a rank from when it is the first of its stream to its last receive,
 * and takes RankClass::collectiveShare of the GPU from computing (ComputeClock). The phases of a
 * collective are executed message by message, each of which leaves when the inputs that it waits
 * for allow it (FlowsOf). A phase is complete on a rank when all inputs are. Chunks of a collective
 * go through its phases side by side, as Collective says.
 */
class RankReplay
{
  public:
    /// All have to outlive it.
    RankReplay(const TaskGraph& graph, Rank rank, RankWorld& world);

    /// Begins. Domain: once.
    void Start();
    void ComputeDone();
    void Launched(uint32_t stream);
    void Delivered(const RankMessage& message);

    /// A phase that the world has taken is through.
    void PhaseOver(uint32_t stream);

    /// The rank goes on by itself with a phase of one input and one output that the world had
    /// taken, with messages up to now.
    void GoOnWithPhase(uint32_t stream, uint32_t sent, uint32_t received);

    /// What a message of a phase costs its sender, and beside which others it goes.
    static MessageCare CareOf(const Phase& phase, CommClass comm, uint32_t output, Bytes bytes);

    /// Ends the rank's work after this many iterations; without it, it goes on.
    void SetIterations(uint32_t iterations)
    {
        m_iterations = iterations;
    }

    /// Keeps what the rank does from now on.
    void Record()
    {
        m_record.emplace();
    }

    RankTimes Times() const;

    /// Null if it was not asked for.
    const RankRecord* Recorded() const
    {
        return m_record ? &*m_record : nullptr;
    }

    /// What the rank waits for at this moment, in words, or "nothing".
    std::string DescribeWait() const;

  private:
    enum class State : uint8_t
    {
        Running,
        Computing,
        WaitsForMessage,
        WaitsForHandle,
        Finished
    };

    struct PostedCollective
    {
        uint32_t collective;
        uint32_t handle;
        uint32_t instance;
        bool joined; //!< ranks of other classes take part
    };

    /// A chunk of the collective that is under way on a stream.
    struct ChunkState
    {
        uint32_t phase{0}; //!< that it is in, or waits for
        bool active{false};
        uint32_t index{0}; //!< own index in the phase's group
        MemberFlows flows;
        std::array<uint32_t, kMostFlows> received{}; //!< messages, by input
        std::array<uint32_t, kMostFlows> sent{};     //!< messages, by output
    };

    /// A stream and the collective that is under way on it.
    struct StreamState
    {
        std::deque<PostedCollective> queue;
        bool active{false};
        size_t recorded{0}; //!< which of the record's collectives is under way
        /// Collectives so far, those of the own class and those that others take part in: the same
        /// number on every member of a group, as classes have equally many of the latter.
        std::array<uint32_t, 2> posted{};
        uint32_t chunksLeft{0};
        std::vector<ChunkState> chunks;
    };

    struct BusyClock
    {
        uint32_t active{0};
        int64_t sincePs{0};
        int64_t totalPs{0};
    };

    int64_t NowPs() const
    {
        return m_world.Now().Ps();
    }

    void Advance();
    void Compute(Duration work);
    void ChangePace();
    void Send(const Op& op);
    void Release(int32_t peer);
    void PostCollective(const Op& op);
    void StartNext(uint32_t stream);
    /// Whether ranks of other classes take part in a collective of this one.
    bool JoinsClasses(uint32_t collective);
    const Collective& CollectiveOn(uint32_t stream) const;
    void StartPhase(uint32_t stream, uint32_t chunk);
    void SendMessages(uint32_t stream, uint32_t chunk);
    void SendCopies(uint32_t stream, uint32_t chunk, const Phase& phase);
    void TakeArrivals(uint32_t stream, uint32_t chunk);
    void PhaseDone(uint32_t stream, uint32_t chunk);
    bool MayEnter(uint32_t stream, uint32_t chunk) const;
    void Complete(uint32_t stream);
    void PipelineArrived(const RankMessage& message);
    uint64_t CollectiveTag(uint32_t stream, uint32_t chunk, uint32_t input, uint32_t number) const;
    void BeginRun(const Op& op);
    void EndRun();

    const TaskGraph& m_graph;
    const RankClass& m_class;
    Rank m_rank;
    RankWorld& m_world;
    uint32_t m_iterations{UINT32_MAX};

    State m_state{State::Running};
    uint32_t m_waitFor{0};
    int64_t m_blockedSincePs{0};
    uint32_t m_pc{0};
    uint32_t m_body{UINT32_MAX};
    uint32_t m_bodyPc{0};
    uint32_t m_iteration{0};
    bool m_marked{false};
    const Op* m_running{nullptr};
    int64_t m_runBeginPs{0};
    ComputeClock m_clock;
    Underway m_underway;

    std::array<StreamState, kStreams> m_streams;
    std::vector<uint32_t> m_posted; //!< by handle
    std::vector<uint32_t> m_done;
    std::vector<CommClass> m_handleComm;
    std::vector<std::optional<bool>> m_joins; //!< by collective: JoinsClasses(), where known
    /// Tags of messages that have arrived and are not yet taken; a tag names its sender.
    std::unordered_set<uint64_t> m_arrived;
    /// In a rendezvous: messages to a peer that wait for their receives, in the order sent,
    std::map<int32_t, std::deque<const Op*>> m_held;
    std::unordered_set<uint32_t> m_credits; //!< and messages whose receives are known to be posted
    int64_t m_pipelineBusyUntilPs{0};

    RankTimes m_times;
    std::array<BusyClock, kCommClasses> m_busy;
    std::optional<RankRecord> m_record;
};

} // namespace scaleacross

#endif // SCALEACROSS_RANK_REPLAY_H
