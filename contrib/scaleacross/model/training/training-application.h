// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRAINING_APPLICATION_H
#define SCALEACROSS_TRAINING_APPLICATION_H

#include "core/program/compute-clock.h"
#include "core/program/program.h"
#include "rank-transport.h"

#include "ns3/application.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace ns3
{

/// Time that a rank spent, by cause, since its start.
struct RankTimes
{
    scaleacross::Duration compute;
    scaleacross::Duration bubble; //!< waiting for a message that had not set out yet
    /// Waiting for communication under way, by CommClass.
    std::array<scaleacross::Duration, scaleacross::kCommClasses> exposed;
    /// With a collective of the class under way, or a pipeline message to the rank, by CommClass.
    std::array<scaleacross::Duration, scaleacross::kCommClasses> busy;
};

/// One Run operation that a rank has executed.
struct RankRun
{
    uint32_t iteration;
    scaleacross::Action action;
    uint16_t chunk;
    uint16_t microbatch;
    scaleacross::Duration begin;
    scaleacross::Duration end;
    uint16_t backChunk; //!< ForwardBackward: what goes backward
    uint16_t backMicrobatch;
};

/**
 * One rank of a training job: replays its class program, iteration after iteration.
 *
 * In a rendezvous a message leaves when its sender has the credit of its receive, and after those
 * to the same rank before it.
 *
 * Compute occupies the rank, sends and collectives run beside it, waits and receives stop it. A
 * collective is under way on a rank from when it is the first of its stream to its last receive,
 * and takes RankClass::collectiveShare of the GPU from computing (ComputeClock). The phases of a
 * collective are executed message by message through the transport, each of which leaves when the
 * inputs that it waits for allow it (scaleacross::FlowsOf). A phase is complete on a rank when all
 * inputs are. Chunks of a collective go through its phases side by side, as
 * scaleacross::Collective says.
 */
class TrainingApplication : public Application
{
  public:
    /// Called when the first forward of an iteration begins: rank, iteration.
    using IterationCallback = Callback<void, scaleacross::Rank, uint32_t>;

    static TypeId GetTypeId();

    TrainingApplication();
    ~TrainingApplication() override;

    /// What the rank does and through what. `graph` and the transport must outlive the run.
    void SetRank(const scaleacross::TaskGraph* graph,
                 scaleacross::Rank rank,
                 Ptr<RankTransport> transport);

    void SetIterationCallback(IterationCallback callback);

    /// Ends the rank's work after this many iterations; without it, it goes on until the simulation
    /// is stopped.
    void SetIterations(uint32_t iterations);

    /// Keeps every Run operation from now on.
    void RecordRuns();

    RankTimes GetTimes() const;
    const std::vector<RankRun>& GetRuns() const;

    /// What the rank waits for at this moment, in words, or "nothing".
    std::string DescribeWait() const;

  protected:
    void DoDispose() override;

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
        scaleacross::MemberFlows flows;
        std::array<uint32_t, scaleacross::kMostFlows> received{}; //!< messages, by input
        std::array<uint32_t, scaleacross::kMostFlows> sent{};     //!< messages, by output
    };

    /// A stream and the collective that is under way on it.
    struct StreamState
    {
        std::deque<PostedCollective> queue;
        bool active{false};
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

    void StartApplication() override;
    void StopApplication() override;

    void Advance();
    void Compute(scaleacross::Duration work);
    void ComputeDone();
    void ChangePace();
    void Send(const scaleacross::Op& op);
    void Release(int32_t peer);
    void PostCollective(const scaleacross::Op& op);
    void StartNext(uint32_t stream);
    /// Whether ranks of other classes take part in a collective of this one.
    bool JoinsClasses(uint32_t collective);
    const scaleacross::Collective& CollectiveOn(uint32_t stream) const;
    void StartPhase(uint32_t stream, uint32_t chunk);
    void StartChunks(uint32_t stream);
    void SendMessages(uint32_t stream, uint32_t chunk);
    void SendCopies(uint32_t stream, uint32_t chunk, const scaleacross::Phase& phase);
    static MessageCare CareOf(const scaleacross::Phase& phase,
                              uint32_t output,
                              scaleacross::Bytes bytes);
    void TakeArrivals(uint32_t stream, uint32_t chunk);
    void PhaseDone(uint32_t stream, uint32_t chunk);
    bool MayEnter(uint32_t stream, uint32_t chunk) const;
    void Complete(uint32_t stream);
    void Delivered(const RankMessage& message);
    void PipelineArrived(const RankMessage& message);
    uint64_t CollectiveTag(uint32_t stream, uint32_t chunk, uint32_t input, uint32_t number) const;
    void BeginRun(const scaleacross::Op& op);
    void EndRun();

    const scaleacross::TaskGraph* m_graph{nullptr};
    const scaleacross::RankClass* m_class{nullptr};
    scaleacross::Rank m_rank{0};
    Ptr<RankTransport> m_transport;
    IterationCallback m_iterationCallback;
    uint32_t m_iterations{UINT32_MAX};

    State m_state{State::Running};
    uint32_t m_waitFor{0};
    int64_t m_blockedSincePs{0};
    uint32_t m_pc{0};
    uint32_t m_body{UINT32_MAX};
    uint32_t m_bodyPc{0};
    uint32_t m_iteration{0};
    bool m_marked{false};
    const scaleacross::Op* m_running{nullptr};
    int64_t m_runBeginPs{0};
    EventId m_compute;
    scaleacross::ComputeClock m_clock;
    scaleacross::Underway m_underway;

    std::array<StreamState, scaleacross::kStreams> m_streams;
    std::vector<uint32_t> m_posted; //!< by handle
    std::vector<uint32_t> m_done;
    std::vector<scaleacross::CommClass> m_handleComm;
    std::vector<std::optional<bool>> m_joins; //!< by collective: JoinsClasses(), where known
    /// Tags of messages that have arrived and are not yet taken; a tag names its sender.
    std::unordered_set<uint64_t> m_arrived;
    /// In a rendezvous: messages to a peer that wait for their receives, in the order sent,
    std::map<int32_t, std::deque<const scaleacross::Op*>> m_held;
    std::unordered_set<uint32_t> m_credits; //!< and messages whose receives are known to be posted
    int64_t m_pipelineBusyUntilPs{0};

    RankTimes m_times;
    std::array<BusyClock, scaleacross::kCommClasses> m_busy;
    bool m_record{false};
    std::vector<RankRun> m_runs;
};

} // namespace ns3

#endif // SCALEACROSS_TRAINING_APPLICATION_H
