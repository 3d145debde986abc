// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRAINING_APPLICATION_H
#define SCALEACROSS_TRAINING_APPLICATION_H

#include "core/program/program.h"
#include "core/program/rank-replay.h"
#include "job-clock.h"
#include "rank-transport.h"

#include "ns3/application.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * One rank of a training job: a scaleacross::RankReplay in the time of its job's clock, whose
 * messages go through a RankTransport.
 */
class TrainingApplication : public Application, private scaleacross::RankWorld
{
  public:
    /// Called when the first forward of an iteration begins: rank, iteration.
    using IterationCallback = Callback<void, scaleacross::Rank, uint32_t>;

    // Signatures of trace sources.
    using IterationTracedCallback = void (*)(scaleacross::Rank rank, uint32_t iteration);
    using FinishedTracedCallback = void (*)(scaleacross::Rank rank);

    static TypeId GetTypeId();

    TrainingApplication();
    ~TrainingApplication() override;

    /// What the rank does and through what. `graph` must outlive the run.
    void SetRank(const scaleacross::TaskGraph* graph,
                 scaleacross::Rank rank,
                 Ptr<RankTransport> transport);
    /// The same with a graph that this keeps until it is disposed of.
    void SetRank(std::shared_ptr<const scaleacross::TaskGraph> graph,
                 scaleacross::Rank rank,
                 Ptr<RankTransport> transport);

    /// Throws ConfigError before SetRank.
    scaleacross::Rank GetRank() const;

    /// The clock of the job; without it, the Simulator's. Before the start.
    void SetClock(Ptr<JobClock> clock);

    void SetIterationCallback(IterationCallback callback);

    /// Ends the rank's work after this many iterations; 0, the default: it goes on until the
    /// simulation is stopped. Before the start; the attribute Iterations.
    void SetIterations(uint32_t iterations);
    uint32_t GetIterations() const;

    /// Keeps what the rank does, from its start on; the attribute Record.
    void SetRecord(bool record);
    bool IsRecording() const;

    scaleacross::RankTimes GetTimes() const;
    /// What it has done; null if that was not asked for.
    const scaleacross::RankRecord* GetRecord() const;

    /// What the rank waits for at this moment, in words, or "nothing".
    std::string DescribeWait() const;

  protected:
    /// Throws ConfigError if another process simulates its node (scaleacross::CheckPartition).
    void DoInitialize() override;
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;
    void Delivered(const scaleacross::RankMessage& message);
    /// Throws ConfigError if SetRank has not been called, or after disposal.
    scaleacross::RankReplay& Replay() const;

    // What the replay asks for.
    scaleacross::Duration Now() const override;
    void ComputeUntil(scaleacross::Duration end) override;
    void LaunchAt(scaleacross::Duration at, uint32_t stream) override;
    void Send(scaleacross::Rank to,
              scaleacross::Bytes bytes,
              uint64_t tag,
              const scaleacross::MessageCare& care) override;
    void SendCopies(const std::vector<scaleacross::MessageCopy>& copies,
                    scaleacross::Bytes bytes,
                    const scaleacross::MessageCare& care) override;
    void SendCredit(scaleacross::Rank to, uint64_t tag) override;
    void IterationBegins(uint32_t iteration) override;
    void Finished() override;

    std::shared_ptr<const scaleacross::TaskGraph> m_graph; //!< null if it is somebody else's
    std::unique_ptr<scaleacross::RankReplay> m_replay;
    uint32_t m_iterations{0};
    bool m_record{false};
    bool m_disposed{false};
    scaleacross::Rank m_rank{0};
    Ptr<RankTransport> m_transport;
    IterationCallback m_iterationCallback;
    Ptr<JobClock> m_clock;
    JobEvent m_compute;
    TracedCallback<scaleacross::Rank, uint32_t> m_iterationTrace;
    TracedCallback<scaleacross::Rank> m_finishedTrace;
};

} // namespace ns3

#endif // SCALEACROSS_TRAINING_APPLICATION_H
