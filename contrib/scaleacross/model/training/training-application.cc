// SPDX-License-Identifier: GPL-2.0-only

#include "training-application.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/partition-check.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TrainingApplication");
NS_OBJECT_ENSURE_REGISTERED(TrainingApplication);

using namespace scaleacross;

TypeId
TrainingApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TrainingApplication")
            .SetParent<Application>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<TrainingApplication>()
            .AddAttribute(
                "Iterations",
                "Iterations after which the rank has finished; 0: it goes on until the "
                "simulation is stopped.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&TrainingApplication::SetIterations,
                                                        &TrainingApplication::GetIterations)),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Record",
                "Whether what the rank does is kept (GetRecord): spells of computing and "
                "waiting, collectives and messages.",
                BooleanValue(false),
                scaleacross::Fixed(MakeBooleanAccessor(&TrainingApplication::SetRecord,
                                                       &TrainingApplication::IsRecording)),
                MakeBooleanChecker())
            .AddTraceSource("Iteration",
                            "The first forward of an iteration begins, which ends "
                            "the one before: rank, iteration from 0.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_iterationTrace),
                            "ns3::TrainingApplication::IterationTracedCallback")
            .AddTraceSource("Finished",
                            "The rank has done all the iterations that it was asked for: rank.",
                            MakeTraceSourceAccessor(&TrainingApplication::m_finishedTrace),
                            "ns3::TrainingApplication::FinishedTracedCallback");
    return tid;
}

TrainingApplication::TrainingApplication()
    : m_clock(Create<JobClock>())
{
}

TrainingApplication::~TrainingApplication() = default;

void
TrainingApplication::SetRank(const TaskGraph* graph, Rank rank, Ptr<RankTransport> transport)
{
    RankWorld& world = *this;
    m_replay = std::make_unique<RankReplay>(*graph, rank, world);
    m_rank = rank;
    m_transport = transport;
    SetRecord(m_record); // of messages too that come before the start
    // Others may begin, and send, before this one does.
    m_transport->SetDelivery(m_rank, MakeCallback(&TrainingApplication::Delivered, this));
}

void
TrainingApplication::SetRank(std::shared_ptr<const TaskGraph> graph,
                             Rank rank,
                             Ptr<RankTransport> transport)
{
    SetRank(graph.get(), rank, transport);
    m_graph = std::move(graph);
}

Rank
TrainingApplication::GetRank() const
{
    Replay();
    return m_rank;
}

scaleacross::RankReplay&
TrainingApplication::Replay() const
{
    if (!m_replay)
    {
        throw scaleacross::ConfigError("TrainingApplication",
                                       "it is no rank of a job",
                                       "applications after SetRank and before their disposal",
                                       "a helper installs them, such as CollectiveHelper");
    }
    return *m_replay;
}

void
TrainingApplication::SetClock(Ptr<JobClock> clock)
{
    m_clock = clock;
}

void
TrainingApplication::SetIterationCallback(IterationCallback callback)
{
    m_iterationCallback = callback;
}

void
TrainingApplication::SetIterations(uint32_t iterations)
{
    m_iterations = iterations;
}

uint32_t
TrainingApplication::GetIterations() const
{
    return m_iterations;
}

void
TrainingApplication::SetRecord(bool record)
{
    m_record = record;
    if (m_replay && m_record)
    {
        m_replay->Record();
    }
}

bool
TrainingApplication::IsRecording() const
{
    return m_record;
}

RankTimes
TrainingApplication::GetTimes() const
{
    return Replay().Times();
}

const RankRecord*
TrainingApplication::GetRecord() const
{
    return Replay().Recorded();
}

std::string
TrainingApplication::DescribeWait() const
{
    return Replay().DescribeWait();
}

void
TrainingApplication::DoInitialize()
{
    CheckPartition(GetNode(), GetInstanceTypeId().GetName());
    Application::DoInitialize();
}

void
TrainingApplication::DoDispose()
{
    m_compute.Cancel();
    m_disposed = true;
    m_replay.reset();
    m_graph.reset();
    m_transport = nullptr;
    m_iterationCallback = IterationCallback();
    Application::DoDispose();
}

void
TrainingApplication::StartApplication()
{
    if (m_disposed)
    {
        return; // a node starts what it was given
    }
    NS_LOG_INFO(Simulator::Now().As(Time::US) << " rank " << m_rank << " begins");
    Replay().SetIterations(m_iterations);
    Replay().Start();
}

void
TrainingApplication::StopApplication()
{
    m_compute.Cancel();
}

void
TrainingApplication::Delivered(const RankMessage& message)
{
    if (m_replay) // else disposed of
    {
        m_replay->Delivered(message);
    }
}

Duration
TrainingApplication::Now() const
{
    return Duration::Picoseconds(m_clock->Now());
}

void
TrainingApplication::ComputeUntil(Duration end)
{
    m_compute.Cancel();
    m_compute =
        m_clock->Schedule(PicoSeconds((end - Now()).Ps()), [this] { m_replay->ComputeDone(); });
}

void
TrainingApplication::LaunchAt(Duration at, uint32_t stream)
{
    m_clock->Schedule(PicoSeconds((at - Now()).Ps()), [this, stream] {
        if (m_replay)
        {
            m_replay->Launched(stream);
        }
    });
}

void
TrainingApplication::Send(Rank to, Bytes bytes, uint64_t tag, const MessageCare& care)
{
    m_transport->Send(m_rank, to, bytes, tag, care);
}

void
TrainingApplication::SendCopies(const std::vector<MessageCopy>& copies,
                                Bytes bytes,
                                const MessageCare& care)
{
    m_transport->SendCopies(m_rank, copies, bytes, care);
}

void
TrainingApplication::SendCredit(Rank to, uint64_t tag)
{
    m_transport->SendCredit(m_rank, to, tag);
}

void
TrainingApplication::Finished()
{
    NS_LOG_INFO(Simulator::Now().As(Time::US) << " rank " << m_rank << " has finished");
    m_finishedTrace(m_rank);
}

void
TrainingApplication::IterationBegins(uint32_t iteration)
{
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " rank " << m_rank << " begins iteration " << iteration);
    m_iterationTrace(m_rank, iteration);
    if (!m_iterationCallback.IsNull())
    {
        m_iterationCallback(m_rank, iteration);
    }
}

} // namespace ns3
