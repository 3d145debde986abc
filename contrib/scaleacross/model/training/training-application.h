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

    /// What the rank does and through what. `graph` and the transport must outlive the run.
    void SetRank(const scaleacross::TaskGraph* graph,
                 scaleacross::Rank rank,
                 Ptr<RankTransport> transport);

    /// The clock of the job; without it, the Simulator's. Before the start.
    void SetClock(Ptr<JobClock> clock);

    void SetIterationCallback(IterationCallback callback);

    /// Ends the rank's work after this many iterations; without it, it goes on until the simulation
    /// is stopped. After SetRank.
    void SetIterations(uint32_t iterations);

    /// Keeps what the rank does from now on. After SetRank.
    void Record();

    scaleacross::RankTimes GetTimes() const;
    /// What it has done; null if that was not asked for.
    const scaleacross::RankRecord* GetRecord() const;

    /// What the rank waits for at this moment, in words, or "nothing".
    std::string DescribeWait() const;

  protected:
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

    std::unique_ptr<scaleacross::RankReplay> m_replay;
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
